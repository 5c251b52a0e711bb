/**
 * Routes of invitations (R-B10). A request that accepts an invitation sends the token of the invitation as its
 * credential, and needs no bearer token.
 */
import { type Context, Hono } from 'hono';
import { requireRole } from '../../identity/authentication/authenticate.ts';
import { withTransaction } from '../../platform/database/database.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import { parseInput } from '../../platform/http/lenient.ts';
import { isTotalWanted, setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, toPaging } from '../../platform/http/paging.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { required } from '../../platform/http/query-parameters.ts';
import type { RequestIdEnv } from '../../platform/http/request-id.ts';
import { answerListing } from '../../platform/streaming/stream-listing.ts';
import { type AccountEnv, auditContextOf } from '../audit/audit-context.ts';
import type { AccountServices } from '../services.ts';
import { acceptInvitation, type RegisterUserResult } from './accept-invitation.ts';
import { TOKEN } from './invitation-page.ts';
import {
  countInvitations,
  createInvitation,
  deleteInvitation,
  getInvitation,
  invitationSchema,
  listInvitations,
  resendInvitation,
} from './invitations.ts';

export const INVITATION_LIST = declareQuery(PAGING, { isListing: true });
export const REGISTER_QUERY = declareQuery({ invitationToken: required(TOKEN) });

/** Routes of invitations (R-B10). Mount at `/account/invitations`, behind bearer authentication. */
export function invitationRoutes(services: AccountServices): Hono<AccountEnv> {
  const { database, wakeMail } = services;
  return new Hono<AccountEnv>()
    .use('/*', requireRole('MANAGER'))
    .get('/', async (c) => {
      const { accountId } = c.var.caller;
      const paging = toPaging(INVITATION_LIST.parse(c.req.url));
      if (isTotalWanted(c)) setTotalCount(c, await countInvitations(database, accountId));
      return answerListing(c, services, accountId, listInvitations(accountId), paging);
    })
    .post('/', async (c) => {
      const written = parseInput(invitationSchema, await readJsonBody(c.req.raw));
      const made = await withTransaction(database, (transaction) =>
        createInvitation(transaction, auditContextOf(c), written),
      );
      wakeMail();
      return c.json(made);
    })
    .get('/:id', async (c) => c.json(await getInvitation(database, c.var.caller, c.req.param('id'))))
    .post('/:id/resend', async (c) => {
      await withTransaction(database, (transaction) =>
        resendInvitation(transaction, auditContextOf(c), c.req.param('id')),
      );
      wakeMail();
      return c.body(null, 200);
    })
    .delete('/:id', async (c) => {
      await withTransaction(database, (transaction) =>
        deleteInvitation(transaction, auditContextOf(c), c.req.param('id')),
      );
      return c.body(null, 200);
    });
}

/** `POST /account/user/register?invitationToken=` (§4.2). Mount it before bearer authentication. */
export function registerRoutes(services: AccountServices): Hono<RequestIdEnv> {
  return new Hono<RequestIdEnv>().post('/account/user/register', async (c) => c.json(await register(c, services)));
}

async function register(c: Context<RequestIdEnv>, services: AccountServices): Promise<RegisterUserResult> {
  const { invitationToken: token } = REGISTER_QUERY.parse(c.req.url);
  const result = await withTransaction(services.database, (transaction) =>
    acceptInvitation(transaction, services.directory, token, c.var.requestId),
  );
  services.wakeMail();
  await services.accessInvalidation.publish([result.userId]);
  return result;
}
