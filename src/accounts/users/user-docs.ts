/**
 * OpenAPI operations on users: profile, lock, password reset, features, site access, claims, memberships (R-A9, §4.2,
 * §4.3).
 */
import { z } from 'zod';
import { answersJson, jsonBody, MANAGERS, type Operation } from '../../platform/openapi/operation.ts';
import { claimSchemaRead, emptyAnswer, featuresSchemaRead, USER_ID, userInfoSchema } from '../described-users.ts';
import { claimSchema, claimsSchema, featuresSchema, lockSchema, siteIdsSchema, sitesSchema } from '../field-schemas.ts';
import { membershipSchema } from '../members/membership-routes.ts';
import { userSchema } from './user-members.ts';
import { CREATE_USER_QUERY } from './user-routes.ts';

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
    description: 'The new user gets an email with a temporary password.',
    query: CREATE_USER_QUERY,
    body: userWritten,
    answers: [{ ...emptyAnswer('Created.'), headers: { Location: 'URL path of the new user.' } }],
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
      'An absent member keeps its value. Null clears the pseudonym (`pseudo`), names, email address, phone number and business id. Null resets the language to English. Null for any other member changes nothing. In the lists of features and of secondary accesses, an absent item keeps its level. Any other list replaces the stored list.',
    inPath: USER_ID,
    body: userWritten,
    answers: [answersJson('The changed user.', userInfoSchema)],
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
    summary: 'Lock a user (indefinitely or until a given time), or unlock the user',
    body: jsonBody(lockSchema.meta({ id: 'UserLock' })),
    errors: ['conflict'],
  },
  {
    ...{ method: 'post', path: '/account/user/:userId/resetpassword', operationId: 'resetPassword', ...ofUser },
    summary: 'Send a user an email with a link to choose a new password',
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
    summary: 'Revoke a user’s access to sites',
    body: jsonBody(siteIdsSchema),
    errors: ['conflict'],
  },
  ...membershipOperations(),
  ...claimOperations(),
];

function featureOperations(path: string, name: string, words: string): readonly Operation[] {
  const onPath = { path: `/account/user/:userId/${path}`, ...ofUser } as const;
  return [
    {
      ...onPath,
      ...{ method: 'get', operationId: `listUser${name}`, summary: `List the ${words} of a user`, isListing: true },
      answers: [answersJson(`All ${words}, with level \`None\` for those not granted.`, featuresSchemaRead)],
    },
    {
      ...onPath,
      ...{ method: 'post', operationId: `saveUser${name}`, summary: `Set the ${words} of a user` },
      description: `Each item names one of the ${words} by id or name. The ${words} that are not sent keep their level.`,
      body: featuresWritten,
      errors: ['conflict'],
    },
  ];
}

function membershipOperations(): readonly Operation[] {
  const onPath = { path: '/account/users/account', ...manages, body: members } as const;
  return [
    {
      ...onPath,
      ...{ method: 'post', operationId: 'addUsersToAccount', summary: 'Add users to an account the caller may use' },
      answers: [emptyAnswer('All users named in the request were added. A call that fails adds no user.')],
      errors: ['not_found', 'conflict'],
    },
    {
      ...onPath,
      ...{ method: 'delete', operationId: 'removeUsersFromAccount', summary: 'Remove users from an account' },
      answers: [emptyAnswer('All users named in the request were removed. A call that fails removes no user.')],
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
      summary: 'List the claims that a user has in the account',
      inPath: USER_ID,
      isListing: true,
      answers: [answersJson('Sorted by type.', z.array(claimSchemaRead))],
    },
    {
      ...{ method: 'post', path: '/account/user/:userId/claims/add', operationId: 'addDataPusherClaim', ...onUser },
      summary: 'Allow a user to push: add a claim whose type begins with the prefix `datapusher.`',
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
      summary: 'Remove the given claims, whose types must begin with `datapusher.`',
      body: claimsWritten,
      answers: [answersJson('The removed claims.', z.array(claimSchemaRead))],
    },
    {
      ...{ method: 'post', path: '/account/user/claims/add', operationId: 'addClaim', ...inBody },
      summary: 'Add a claim to the user whose id is in `userId`',
      body: claimWritten,
      answers: [emptyAnswer('Added.')],
    },
    {
      ...{ method: 'put', path: '/account/user/claims/edit', operationId: 'editClaim', ...inBody },
      summary: 'Change the value of a claim',
      body: claimWritten,
      answers: [emptyAnswer('Changed.')],
    },
    {
      ...{ method: 'delete', path: '/account/user/claims/remove', operationId: 'removeClaims', ...inBody },
      summary: 'Remove claims from users; the `userId` of each claim says which user',
      body: claimsWritten,
      answers: [emptyAnswer('All claims were removed.')],
    },
  ];
}
