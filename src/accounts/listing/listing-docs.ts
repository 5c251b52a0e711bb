/** OpenAPI operations that list and search users, and those of saved views (R-A9, §4.3). */
import { z } from 'zod';
import {
  ADMINS,
  ALL_USERS,
  answersJson,
  choiceParameter,
  idSchema,
  idsParameter,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
  PAGING,
  type Parameter,
  textId,
} from '../../platform/openapi/operation.ts';
import {
  emptyAnswer,
  listedUserSchema,
  userInfoLightSchema,
  userInfoSchema,
  visibleUserSchema,
} from '../described-users.ts';
import { MAX_CLAIM_VALUE } from '../field-schemas.ts';
import { USER_DISPLAY_LEVEL } from '../users/user-info.ts';
import { viewSchema } from './listing-routes.ts';
import { BUSINESS_KEY_NAME, filterSchema, MAX_TEXT, requestSchema } from './user-search.ts';

const tag = 'Users';
const text = (description: string): Parameter => ({ description, schema: z.string().max(MAX_TEXT) });
const texts = (description: string): Parameter => ({ description, schema: z.array(z.string().max(MAX_TEXT)) });

const SEARCH: NonNullable<Operation['query']> = {
  DisplayLevel: choiceParameter(
    'Which members of a user are returned. A caller with role USER gets Normal in place of Verbose.',
    Object.keys(USER_DISPLAY_LEVEL),
    'Normal',
  ),
  SearchText: text(
    'Every word must occur in the pseudo, first name, last name or mail address; case and accents are ignored.',
  ),
  Roles: texts('Users with any of these roles.'),
  'BusinessKeys.Name': choiceParameter('Kind of key in `BusinessKeys.Values`.', Object.keys(BUSINESS_KEY_NAME)),
  'BusinessKeys.Values': texts('Users with any of these keys.'),
  'Claims[0].ClaimType': text('Users with this claim. Add claims as `Claims[1]…`; all must match.'),
  'Claims[0].ClaimValue': {
    description: 'Value of the claim; when absent, any value matches.',
    schema: z.string().max(MAX_CLAIM_VALUE),
  },
  ViewId: text('A saved view, applied in addition to the other filters.'),
  'Paging.PageNumber': PAGING.pageNumber as Parameter,
  'Paging.ItemsPerPage': PAGING.itemsPerPage as Parameter,
};
const ACCOUNT_ID: Parameter = { description: 'Another account; for role ADMIN only.', schema: idSchema };

const listed = [answersJson('Sorted by user name.', z.array(listedUserSchema))] as const;
const mapped = [answersJson('Sorted by user name.', z.array(userInfoLightSchema))] as const;
const searchRequest = z.intersection(requestSchema, filterSchema).meta({ id: 'UserSearchRequest' });
const searchResponse = z
  .object({
    users: z.array(listedUserSchema),
    totalCount: z.int().min(0),
    pageNumber: z.int().min(0),
    itemsPerPage: z.int().min(0),
  })
  .meta({ id: 'UserSearchResponse' });

export const LISTING_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/account/users', operationId: 'listUsers', tag, summary: 'List and search users' },
    access: ALL_USERS,
    query: { ...SEARCH, AccountId: ACCOUNT_ID },
    isListing: true,
    answers: listed,
    errors: ['not_found'],
  },
  {
    ...{
      method: 'get',
      path: '/user/users',
      operationId: 'searchUsers',
      tag,
      summary: 'List and search users, as /account/users',
    },
    access: ALL_USERS,
    query: { ...SEARCH, AccountId: ACCOUNT_ID },
    isListing: true,
    answers: listed,
    errors: ['not_found'],
  },
  {
    ...{ method: 'post', path: '/account/users', operationId: 'postUserSearch', tag, access: ALL_USERS },
    summary: 'Search users; use GET /account/users',
    isDeprecated: true,
    body: jsonBody(searchRequest),
    answers: [answersJson('One page of users.', searchResponse, { headers: { Deprecation: 'true' } })],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/users/visibleToMe', operationId: 'listVisibleUsers', tag, access: MANAGERS },
    summary: 'List the users of every account the caller may use',
    query: { ...SEARCH, AccountIds: idsParameter('Users of these accounts only.') },
    isListing: true,
    answers: [answersJson('Sorted by user name.', z.array(visibleUserSchema))],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/usersForAccount/:id', operationId: 'listUsersOfAccount', tag, access: ADMINS },
    summary: 'List the users of an account with every member',
    query: PAGING,
    isListing: true,
    answers: [answersJson('Sorted by user name.', z.array(userInfoSchema))],
  },
  {
    ...{ method: 'get', path: '/account/usermapping', operationId: 'listUserMapping', tag, access: ALL_USERS },
    summary: 'List ids and names of users',
    ...{ query: PAGING, isListing: true, answers: mapped },
  },
  {
    ...{ method: 'get', path: '/account/usermapping/users', operationId: 'listMappedUsers', tag, access: ALL_USERS },
    summary: 'List ids and names of users, as /account/usermapping',
    ...{ query: PAGING, isListing: true, answers: mapped },
  },
  ...viewOperations(),
];

function viewOperations(): readonly Operation[] {
  const ofViews = { tag: 'Views', access: ALL_USERS, inPath: { id: textId('Id of the view.') } } as const;
  const view = z
    .object({
      id: z.string(),
      name: z.string(),
      ownerUserId: z.string().nullable(),
      filter: filterSchema,
      createdDate: instantSchema,
    })
    .meta({ id: 'View', description: 'A saved filter; pass its id as `ViewId` to a listing of users.' });
  const written = jsonBody(viewSchema.meta({ id: 'ViewWritten' }));
  const path = '/account/users/views';
  return [
    {
      ...{ ...ofViews, method: 'get', path, operationId: 'listViews', summary: 'List views', isListing: true },
      answers: [answersJson('Sorted by name.', z.array(view))],
    },
    {
      ...{ ...ofViews, method: 'post', path, operationId: 'createView', summary: 'Save a view', body: written },
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...ofViews, method: 'get', path: `${path}/:id`, operationId: 'getView', summary: 'Read a view' },
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...ofViews, method: 'put', path: `${path}/:id`, operationId: 'updateView', summary: 'Change a view' },
      description: 'Only its owner and managers may do this.',
      body: written,
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...ofViews, method: 'delete', path: `${path}/:id`, operationId: 'deleteView', summary: 'Delete a view' },
      description: 'Only its owner and managers may do this.',
      answers: [emptyAnswer('Deleted.')],
    },
  ];
}
