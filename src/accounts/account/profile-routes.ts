/** What callers do about themselves at the issuer (§4.6, R-B13). */
import { Hono } from 'hono';
import type { UserDirectory } from '../../identity/directory/user-directory.ts';
import { DomainError } from '../../platform/errors.ts';
import { parseQuery, queryError } from '../../platform/http/query-string.ts';
import type { AccountEnv } from '../audit/audit-context.ts';

export interface ProfileOptions {
  readonly directory: UserDirectory;
  /** Addresses the page may return to, exactly; the first is the default. */
  readonly returnUrls: readonly string[];
}

export function profileRoutes({ directory, returnUrls }: ProfileOptions): Hono<AccountEnv> {
  return new Hono<AccountEnv>()
    .get('/user/updatePasswordLink', (c) => {
      const wanted = parseQuery(c.req.url).find('returnUrl');
      const returnUrl = wanted ?? returnUrls[0] ?? '';
      if (!returnUrls.includes(returnUrl)) {
        throw queryError('returnUrl', 'must be an address on the list of the service (RETURN_URLS)');
      }
      return c.json({ link: directory.updatePasswordLink(c.var.caller.userName, returnUrl) });
    })
    .all('/user/password', () => {
      throw new DomainError(
        'gone',
        'passwords are no longer changed through the API: GET /user/updatePasswordLink gives the page to go to',
      );
    });
}
