/** OpenAPI operations of invitations (R-A9, R-B10). */
import { z } from 'zod';
import {
  answersJson,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  OPEN,
  type Operation,
  textId,
} from '../../platform/openapi/operation.ts';
import { emptyAnswer } from '../described-users.ts';
import { INVITATION_PATH } from '../mails/invitation-mail.ts';
import type { RegisterUserResult } from './accept-invitation.ts';
import { INVITATION_PAGE_QUERY } from './invitation-page.ts';
import { INVITATION_LIST, REGISTER_QUERY } from './invitation-routes.ts';
import { type Invitation, invitationSchema } from './invitations.ts';

const manages = { tag: 'Invitations', access: MANAGERS } as const;
const inPath = { id: textId('Id of the invitation.') };
const ONE = '/account/invitations/:id';

const invitation = z
  .object({
    id: z.string(),
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    language: z.string(),
    role: z.enum(['ADMIN', 'MANAGER', 'USER']),
    claims: z.array(z.object({ claimType: z.string(), claimValue: z.string() })),
    sites: z.array(
      z.object({
        siteId: idSchema,
        level: z.enum(['Read', 'Write', 'Admin']),
        sourceIds: z.array(idSchema).nullable().optional(),
      }),
    ),
    state: z.enum(['Waiting', 'Sent', 'Expired', 'Accepted']),
    createdDate: instantSchema,
    sentDate: instantSchema.nullable(),
    expiresDate: instantSchema.nullable(),
    acceptedDate: instantSchema.nullable(),
  })
  .meta({ id: 'Invitation' }) satisfies z.ZodType<Invitation>;
const registered = z
  .object({ userId: z.string(), userName: z.string(), email: z.string() })
  .meta({ id: 'RegisterUserResult' }) satisfies z.ZodType<RegisterUserResult>;

const page = { 'text/html': z.string() };

export const INVITATION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/invitations', operationId: 'listInvitations', ...manages },
    summary: 'List invitations',
    query: INVITATION_LIST,
    isListing: true,
    answers: [answersJson('Newest first.', z.array(invitation))],
  },
  {
    ...{ method: 'post', path: '/account/invitations', operationId: 'createInvitation', ...manages },
    summary: 'Invite a person by email',
    body: jsonBody(
      invitationSchema.meta({ id: 'InvitationWritten', examples: [{ email: 'ines@north.example', roles: ['USER'] }] }),
    ),
    answers: [answersJson('The invitation.', invitation)],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: ONE, operationId: 'getInvitation', summary: 'Read an invitation', ...manages, inPath },
    answers: [answersJson('The invitation.', invitation)],
  },
  {
    ...{ method: 'post', path: `${ONE}/resend`, operationId: 'resendInvitation', ...manages, inPath },
    summary: 'Send the email of an invitation again, with a new link',
    answers: [emptyAnswer('The email is queued. Earlier links stop working as soon as the service tries to send it.')],
    errors: ['conflict'],
  },
  {
    ...{ method: 'delete', path: ONE, operationId: 'deleteInvitation', ...manages, inPath },
    summary: 'Delete an invitation',
    answers: [emptyAnswer('The invitation is deleted; its link no longer works.')],
  },
  {
    ...{ method: 'post', path: '/account/user/register', operationId: 'registerUser', access: OPEN },
    tag: manages.tag,
    summary: 'Accept an invitation',
    description:
      'The invitation token authenticates the request; no other credential is needed. A new user gets a temporary password by email.',
    query: REGISTER_QUERY,
    answers: [answersJson('The user who joined the account.', registered)],
    errors: ['not_found', 'conflict', 'rate_limited'],
  },
  {
    ...{ method: 'get', path: INVITATION_PATH, operationId: 'showInvitation', tag: manages.tag, access: OPEN },
    summary: 'Page of an invitation, opened by the link in its email',
    query: INVITATION_PAGE_QUERY,
    answers: [
      { status: 200, description: 'A page with a button that accepts the invitation.', types: page },
      {
        status: 400,
        description: 'An error page: the link is invalid, has expired or has already been used.',
        types: page,
      },
    ],
  },
  {
    ...{ method: 'post', path: INVITATION_PATH, operationId: 'acceptInvitation', tag: manages.tag, access: OPEN },
    summary: 'Accept an invitation on the invitation page',
    query: INVITATION_PAGE_QUERY,
    answers: [
      { status: 200, description: 'A page that says that the invitation was accepted.', types: page },
      {
        status: 400,
        description:
          'An error page: the link is invalid, has expired or has already been used; or the request was not sent from a page of this service.',
        types: page,
      },
      {
        status: 409,
        description:
          'An error page: the user exists with another email address, or is a MANAGER who was invited as a USER; or the identity provider has another user with this name or email address. Any other existing user joins the account and keeps their role.',
        types: page,
      },
    ],
    errors: ['rate_limited'],
  },
];
