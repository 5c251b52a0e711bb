/** What the routes of accounts and users work with. */
import type { AccessNews } from '../identity/caller/access-news.ts';
import type { UserDirectory } from '../identity/directory/user-directory.ts';
import type { Database } from '../platform/database/database.ts';

export interface AccountServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Told of every change to what users may do, after its commit. */
  readonly accessNews: Pick<AccessNews, 'announce'>;
  /** Has waiting mails sent now. */
  readonly wakeMail: () => void;
}
