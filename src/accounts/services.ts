/** Services that the routes of accounts and users need. */
import type { AccessInvalidation } from '../identity/caller/access-invalidation.ts';
import type { UserDirectory } from '../identity/directory/user-directory.ts';
import type { Database } from '../platform/database/database.ts';
import type { ListingServices } from '../platform/streaming/stream-listing.ts';

export interface AccountServices extends ListingServices {
  readonly database: Database;
  readonly directory: UserDirectory;
  /** Invalidates cached callers. Call `publish` after the commit of every change to what users may do. */
  readonly accessInvalidation: Pick<AccessInvalidation, 'publish'>;
  /** Makes the mail sender send queued emails now. */
  readonly wakeMail: () => void;
}
