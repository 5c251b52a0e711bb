/** What the routes of accounts and users work with. */
import type { AccessInvalidation } from '../identity/caller/access-invalidation.ts';
import type { UserDirectory } from '../identity/directory/user-directory.ts';
import type { Database } from '../platform/database/database.ts';

export interface AccountServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Told of every change to what users may do, after its commit. */
  readonly accessInvalidation: Pick<AccessInvalidation, 'publish'>;
  /** Has waiting mails sent now. */
  readonly wakeMail: () => void;
}
