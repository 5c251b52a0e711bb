/** The description of the current account and of one's own password (R-A9, §4.1, §4.6). */
import { z } from 'zod';
import {
  ALL_USERS,
  answersJson,
  answersNothing,
  choiceParameter,
  idSchema,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
  PAGING,
  type Parameter,
} from '../../platform/openapi/operation.ts';
import { AUDIT_ACTIONS, AUDIT_SCOPES, type AuditEntry, MAX_AUDIT_PAGE } from '../audit/audit.ts';
import { emptyAnswer, featuresSchemaRead } from '../described-users.ts';
import { ACCOUNT_DISPLAY_LEVEL, ACCOUNT_MEMBERS, accountSchema } from './account.ts';

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
      description: 'Versions kept of a point, tagged and untagged apart, unless its variable says otherwise.',
    }),
    createdDate: instantSchema,
    siteCount: count,
    sourceCount: count,
    variableCount: count,
    userCount: count,
  })
  .partial()
  .meta({ id: 'Account', description: 'The members that were asked for.' });

const auditEntry = z
  .object({
    id: idSchema,
    accountId: idSchema.nullable().meta({ description: 'Whose managers may read it.' }),
    date: instantSchema,
    userId: z.string(),
    userName: z.string(),
    impersonator: z
      .object({ userId: z.string(), userName: z.string() })
      .nullable()
      .meta({ description: 'Who really did it, when somebody acted as the user.' }),
    action: z.enum(AUDIT_ACTIONS),
    targetId: z.string().nullable(),
    targetName: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    requestId: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' }) satisfies z.ZodType<AuditEntry>;

const FIELD_MASK: Parameter = {
  description: 'Only these members. Repeated, or separated by commas; in any case.',
  schema: z.array(z.enum(ACCOUNT_MEMBERS as [string, ...string[]])),
};
const instant = (description: string): Parameter => ({ description, schema: instantSchema });
const text = (description: string): Parameter => ({ description, schema: z.string() });

export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account', operationId: 'getAccount', tag, summary: 'Read the account' },
    access: ALL_USERS,
    query: {
      displayLevel: choiceParameter(
        'Which members are shown, without `fieldMask`.',
        Object.keys(ACCOUNT_DISPLAY_LEVEL),
        'Normal',
      ),
      fieldMask: FIELD_MASK,
    },
    answers: [answersJson('The account of the token.', account)],
  },
  {
    ...{ method: 'put', path: '/account', operationId: 'updateAccount', tag, summary: 'Change the account' },
    description:
      'What the body leaves out stays; null clears. `fieldMask` limits what is changed, whatever the body holds.',
    access: MANAGERS,
    query: { fieldMask: FIELD_MASK },
    body: jsonBody(
      accountSchema.meta({ id: 'AccountWritten', examples: [{ name: 'Bakery', currency: 'EUR', versionLimit: 10 }] }),
    ),
    answers: [answersJson('The account as it is now.', account)],
  },
  {
    ...{ method: 'get', path: '/account/features', operationId: 'listAccountFeatures', tag, access: MANAGERS },
    summary: 'Features of the account',
    isListing: true,
    answers: [answersJson('All of them, with the level the account has.', featuresSchemaRead)],
  },
  {
    ...{ method: 'get', path: '/account/secondaryAccesses', operationId: 'listAccountSecondaryAccesses', tag },
    summary: 'Secondary accesses of the account',
    access: MANAGERS,
    isListing: true,
    answers: [answersJson('All of them, with the level the account has.', featuresSchemaRead)],
  },
  {
    ...{ method: 'get', path: '/account/audit', operationId: 'listAudit', tag, access: MANAGERS },
    summary: 'What was done, by whom',
    query: {
      from: instant('First instant.'),
      to: instant('Last instant.'),
      userId: text('Only what this user did.'),
      targetId: text('Only what was done to this.'),
      action: choiceParameter('Only this.', AUDIT_ACTIONS),
      scope: choiceParameter(
        'Whose: the account’s (default); for ADMIN what concerns no account, or that of all accounts.',
        AUDIT_SCOPES,
      ),
      ...PAGING,
      itemsPerPage: {
        description: 'Items of a page; without it 1000.',
        schema: z.int().min(1).max(MAX_AUDIT_PAGE),
      },
    },
    isListing: true,
    answers: [answersJson('The newest first.', z.array(auditEntry))],
  },
  {
    ...{ method: 'get', path: '/account/user/accounts', operationId: 'listMyAccounts', tag, access: ALL_USERS },
    summary: 'The accounts of the current user',
    query: { SubscriptionId: text('Accepted without effect.') },
    isListing: true,
    answers: [answersJson('By name.', z.array(account))],
  },
  {
    ...{ method: 'post', path: '/account/user/active-account/:accountId', operationId: 'setActiveAccount', tag },
    summary: 'Choose the account of tokens that name none',
    access: ALL_USERS,
    answers: [emptyAnswer('Chosen.')],
  },
  {
    ...{
      method: 'get',
      path: '/user/updatePasswordLink',
      operationId: 'getUpdatePasswordLink',
      tag,
      access: ALL_USERS,
    },
    summary: 'The page where the current user changes the password',
    query: { returnUrl: text('Where the page leads back to, of the service’s list (RETURN_URLS).') },
    answers: [answersJson('Its address.', z.object({ link: z.string().meta({ format: 'uri' }) }))],
  },
  {
    ...{ method: 'post', path: '/user/password', operationId: 'changePassword', tag, summary: 'Replaced' },
    description: 'Use `GET /user/updatePasswordLink`.',
    access: ALL_USERS,
    isDeprecated: true,
    answers: [answersNothing('Never: it is 410.', 200)],
    errors: ['gone'],
  },
];
