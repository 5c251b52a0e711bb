/**
 * OpenAPI operations for accounts, for the audit trail, and for the caller's sessions and password (R-A9, §4.1, §4.6).
 */
import { z } from 'zod';
import {
  ALL_USERS,
  answersJson,
  answersNothing,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
} from '../../platform/openapi/operation.ts';
import { AUDIT_ACTIONS, type AuditEntry } from '../audit/audit.ts';
import { emptyAnswer, featuresSchemaRead } from '../described-users.ts';
import { accountSchema } from './account.ts';
import {
  ACCOUNT_CHANGE_QUERY,
  ACCOUNT_QUERY,
  AUDIT_QUERY,
  MY_ACCOUNTS_QUERY,
  PASSWORD_LINK_QUERY,
} from './account-queries.ts';

const tag = 'Account';

const group = (...names: readonly string[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, z.string().nullable()])));
const count = z.int().min(0);
const account = z
  .object({
    id: idSchema,
    name: z.string(),
    language: z.string(),
    timeZoneId: z.string(),
    currency: z.string().nullable(),
    smsSettings: group('senderName'),
    emailSettings: group('senderName', 'replyTo'),
    versionLimit: z.int().meta({
      description:
        'Maximum number of versions kept per point; tagged and untagged versions are counted separately. A variable may have its own limit.',
    }),
    createdDate: instantSchema,
    siteCount: count,
    sourceCount: count,
    variableCount: count,
    userCount: count,
  })
  .partial()
  .meta({
    id: 'Account',
    description: '`GET /account` returns only the requested members; other calls return those of the level `Normal`.',
  });

const auditEntry = z
  .object({
    id: idSchema,
    accountId: idSchema
      .nullable()
      .meta({ description: 'Account whose managers may read the entry; null when only ADMIN users may read it.' }),
    date: instantSchema,
    userId: z.string(),
    userName: z.string(),
    impersonator: z
      .object({ userId: z.string(), userName: z.string() })
      .nullable()
      .meta({ description: 'The ADMIN who impersonated the user; null without impersonation.' }),
    action: z.enum(AUDIT_ACTIONS),
    targetId: z.string().nullable(),
    targetName: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    requestId: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' }) satisfies z.ZodType<AuditEntry>;

export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account', operationId: 'getAccount', tag, summary: 'Read the account' },
    access: ALL_USERS,
    query: ACCOUNT_QUERY,
    answers: [answersJson('The account that the token names; the active account when the token names none.', account)],
  },
  {
    ...{ method: 'put', path: '/account', operationId: 'updateAccount', tag, summary: 'Change the account' },
    description:
      'An absent member keeps its value. `currency`, `smsSettings`, `emailSettings` and the members of the last two can be null, which clears them. `fieldMask` limits the change to the members that it names.',
    access: MANAGERS,
    query: ACCOUNT_CHANGE_QUERY,
    body: jsonBody(
      accountSchema.meta({ id: 'AccountWritten', examples: [{ name: 'Bakery', currency: 'EUR', versionLimit: 10 }] }),
    ),
    answers: [answersJson('The changed account.', account)],
  },
  {
    ...{ method: 'get', path: '/account/features', operationId: 'listAccountFeatures', tag, access: MANAGERS },
    summary: 'List the features of the account',
    isListing: true,
    answers: [answersJson('Every feature, with the level that the account has for it.', featuresSchemaRead)],
  },
  {
    ...{ method: 'get', path: '/account/secondaryAccesses', operationId: 'listAccountSecondaryAccesses', tag },
    summary: 'List the secondary accesses of the account',
    access: MANAGERS,
    isListing: true,
    answers: [answersJson('Every secondary access, with its level for this account.', featuresSchemaRead)],
  },
  {
    ...{ method: 'get', path: '/account/audit', operationId: 'listAudit', tag, access: MANAGERS },
    summary: 'List the audit trail',
    query: AUDIT_QUERY,
    isListing: true,
    answers: [answersJson('Newest first.', z.array(auditEntry))],
  },
  {
    ...{ method: 'get', path: '/account/user/accounts', operationId: 'listMyAccounts', tag, access: ALL_USERS },
    summary: 'List the accounts of the caller',
    query: MY_ACCOUNTS_QUERY,
    isListing: true,
    answers: [answersJson('Sorted by name.', z.array(account))],
  },
  {
    ...{ method: 'post', path: '/account/user/active-account/:accountId', operationId: 'setActiveAccount', tag },
    summary: 'Set the active account, which applies to sign-ins that name no account',
    access: ALL_USERS,
    answers: [emptyAnswer('The account in the path is now the active account.')],
  },
  {
    ...{ method: 'post', path: '/user/signOut', operationId: 'signOutEverywhere', tag, access: ALL_USERS },
    summary: 'End every session of the caller',
    description:
      'Ends the browser sessions of the caller and revokes all refresh tokens of the caller, at the issuer that manages the users. Access tokens are refused too if they are at least one second old.',
    answers: [emptyAnswer('The sessions of the caller have ended.')],
  },
  {
    ...{
      method: 'get',
      path: '/user/updatePasswordLink',
      operationId: 'getUpdatePasswordLink',
      tag,
      access: ALL_USERS,
    },
    summary: 'Get the URL of the page where the caller changes the password',
    query: PASSWORD_LINK_QUERY,
    answers: [
      answersJson(
        'The URL of the page where the caller changes the password.',
        z.object({ link: z.string().meta({ format: 'uri' }) }),
      ),
    ],
  },
  {
    ...{ method: 'post', path: '/user/password', operationId: 'changePassword', tag, summary: 'Removed' },
    description: 'Use `GET /user/updatePasswordLink`.',
    access: ALL_USERS,
    isDeprecated: true,
    answers: [answersNothing('Does not occur: the call answers 410.', 200)],
    errors: ['gone'],
  },
];
