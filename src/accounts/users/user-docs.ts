/** The description of one user of the account, their claims and their accounts (R-A9, §4.2, §4.3). */
import { z } from 'zod';
import { answersJson, jsonBody, MANAGERS, type Operation } from '../../platform/openapi/operation.ts';
import { claimSchemaRead, emptyAnswer, featuresSchemaRead, USER_ID, userInfoSchema } from '../described-users.ts';
import { claimSchema, claimsSchema, featuresSchema, lockSchema, siteIdsSchema, sitesSchema } from '../field-schemas.ts';
import { membershipSchema } from '../members/membership-routes.ts';
import { userSchema } from './user-members.ts';
import { MAX_DELAY_HOURS } from './user-routes.ts';

const tag = 'Users';
const manages = { tag, access: MANAGERS } as const;
const ofUser = { ...manages, inPath: USER_ID, answers: [emptyAnswer('Done.')] } as const;
const ofClaims = { tag: 'Claims', access: MANAGERS } as const;

const claimWritten = jsonBody(
  claimSchema.meta({
    id: 'UserClaimWritten',
    examples: [{ userId: 'id of a user', claimType: 'datapusher.standard', claimValue: 'true' }],
  }),
);
const claimsWritten = jsonBody(claimsSchema);
const userWritten = jsonBody(
  userSchema.meta({
    id: 'UserWritten',
    examples: [
      {
        userName: 'ines@north.example',
        email: 'ines@north.example',
        firstName: 'Ines',
        roles: ['USER'],
        language: 'en',
      },
    ],
  }),
);
const featuresWritten = jsonBody(
  featuresSchema.meta({ id: 'UserFeaturesWritten', examples: [[{ name: 'Data', level: 'Read' }]] }),
);
const members = jsonBody(membershipSchema.meta({ id: 'AddRemoveUsersToFromAccountBody' }));

export const USER_OPERATIONS: readonly Operation[] = [
  {
    ...{
      method: 'post',
      path: '/account/user/create',
      operationId: 'createUser',
      summary: 'Create a user',
      ...manages,
    },
    description: 'Who is created gets a mail with a temporary password.',
    query: {
      delayToSendEmail: {
        description: 'Hours until the mail is sent.',
        schema: z.int().min(0).max(MAX_DELAY_HOURS).default(0),
      },
    },
    body: userWritten,
    answers: [{ ...emptyAnswer('Created.'), headers: { Location: 'Where the user is.' } }],
    errors: ['conflict'],
  },
  {
    ...{ method: 'get', path: '/account/user/:userId', operationId: 'getUser', summary: 'Read a user', ...manages },
    inPath: USER_ID,
    answers: [answersJson('The user.', userInfoSchema)],
  },
  {
    ...{ method: 'post', path: '/account/user/:userId', operationId: 'saveUser', summary: 'Save a user', ...manages },
    description:
      'What the body leaves out stays; null clears; a list that is given is the list from then on, features apart.',
    inPath: USER_ID,
    body: userWritten,
    answers: [answersJson('The user as they are now.', userInfoSchema)],
    errors: ['conflict'],
  },
  {
    ...{
      method: 'delete',
      path: '/account/user/:userId',
      operationId: 'deleteUser',
      summary: 'Delete a user',
      ...ofUser,
    },
    errors: ['conflict'],
  },
  {
    ...{ method: 'post', path: '/account/user/:userId/lock', operationId: 'lockUser', ...ofUser },
    summary: 'Lock a user, for a while or until further notice, or unlock',
    body: jsonBody(lockSchema.meta({ id: 'UserLock' })),
    errors: ['conflict'],
  },
  {
    ...{ method: 'post', path: '/account/user/:userId/resetpassword', operationId: 'resetPassword', ...ofUser },
    summary: 'Mail a user a link to choose another password',
    errors: ['conflict'],
  },
  ...featureOperations('features', 'Features', 'features'),
  ...featureOperations('secondaryAccesses', 'SecondaryAccesses', 'secondary accesses'),
  {
    ...{ method: 'post', path: '/account/user/:userId/sites', operationId: 'grantSites', ...ofUser },
    summary: 'Grant a user access to sites',
    body: jsonBody(sitesSchema.meta({ id: 'SiteAccessWritten' })),
    errors: ['conflict'],
  },
  {
    ...{ method: 'delete', path: '/account/user/:userId/sites', operationId: 'revokeSites', ...ofUser },
    summary: 'Take access to sites away',
    body: jsonBody(siteIdsSchema),
    errors: ['conflict'],
  },
  ...membershipOperations(),
  ...claimOperations(),
];

function featureOperations(path: string, name: string, words: string): readonly Operation[] {
  const place = { path: `/account/user/:userId/${path}`, ...ofUser } as const;
  return [
    {
      ...place,
      ...{ method: 'get', operationId: `listUser${name}`, summary: `The ${words} of a user`, isListing: true },
      answers: [answersJson('All there are, `None` where nothing was given.', featuresSchemaRead)],
    },
    {
      ...place,
      ...{ method: 'post', operationId: `saveUser${name}`, summary: `Set ${words} of a user` },
      description: 'By number or name; those that are not named stay.',
      body: featuresWritten,
      errors: ['conflict'],
    },
  ];
}

function membershipOperations(): readonly Operation[] {
  const place = { path: '/account/users/account', ...manages, body: members } as const;
  return [
    {
      ...place,
      ...{ method: 'post', operationId: 'addUsersToAccount', summary: 'Add users to an account you are allowed on' },
      answers: [emptyAnswer('Added, all or none.')],
      errors: ['not_found', 'conflict'],
    },
    {
      ...place,
      ...{ method: 'delete', operationId: 'removeUsersFromAccount', summary: 'Remove users from an account' },
      answers: [emptyAnswer('Removed, all or none.')],
      errors: ['not_found', 'conflict'],
    },
  ];
}

function claimOperations(): readonly Operation[] {
  const onUser = { ...ofClaims, inPath: USER_ID, errors: ['conflict'] } as const;
  const inBody = { ...ofClaims, errors: ['not_found', 'conflict'] } as const;
  return [
    {
      ...{ method: 'get', path: '/account/user/claim/:userId', operationId: 'listClaims', ...ofClaims },
      summary: 'The claims of a user in the account',
      inPath: USER_ID,
      isListing: true,
      answers: [answersJson('By type.', z.array(claimSchemaRead))],
    },
    {
      ...{ method: 'post', path: '/account/user/:userId/claims/add', operationId: 'addDataPusherClaim', ...onUser },
      summary: 'Let a user push: add a claim datapusher.…',
      body: claimWritten,
      answers: [answersJson('The claim.', claimSchemaRead)],
    },
    {
      ...{
        method: 'post',
        path: '/account/user/:userId/claims/remove',
        operationId: 'removeDataPusherClaims',
        ...onUser,
      },
      summary: 'Remove claims datapusher.…',
      body: claimsWritten,
      answers: [answersJson('Those that were removed.', z.array(claimSchemaRead))],
    },
    {
      ...{ method: 'post', path: '/account/user/claims/add', operationId: 'addClaim', ...inBody },
      summary: 'Add a claim to the user named in it',
      body: claimWritten,
      answers: [emptyAnswer('Added.')],
    },
    {
      ...{ method: 'put', path: '/account/user/claims/edit', operationId: 'editClaim', ...inBody },
      summary: 'Give a claim another value',
      body: claimWritten,
      answers: [emptyAnswer('Changed.')],
    },
    {
      ...{ method: 'delete', path: '/account/user/claims/remove', operationId: 'removeClaims', ...inBody },
      summary: 'Remove claims of the users named in them',
      body: claimsWritten,
      answers: [emptyAnswer('Removed, all or none.')],
    },
  ];
}
