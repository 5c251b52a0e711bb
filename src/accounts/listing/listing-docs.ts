/** The description of listing and searching users, and of saved views (R-A9, §4.3). */
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
    'How much of a user is shown; a USER is answered at Normal at most.',
    Object.keys(USER_DISPLAY_LEVEL),
    'Normal',
  ),
  SearchText: text(
    'Every word must occur in pseudo, first name, last name or mail address; case and accents do not matter.',
  ),
  Roles: texts('Any of these.'),
  'BusinessKeys.Name': choiceParameter('What `BusinessKeys.Values` are.', Object.keys(BUSINESS_KEY_NAME)),
  'BusinessKeys.Values': texts('Any of these.'),
  'Claims[0].ClaimType': text('All claims must match; more of them as `Claims[1]…`.'),
  'Claims[0].ClaimValue': { description: 'Without it any value of the type.', schema: z.string().max(MAX_CLAIM_VALUE) },
  ViewId: text('A saved view, which narrows besides.'),
  'Paging.PageNumber': PAGING.pageNumber as Parameter,
  'Paging.ItemsPerPage': PAGING.itemsPerPage as Parameter,
};
const ACCOUNT_ID: Parameter = { description: 'Another account; for ADMIN alone.', schema: idSchema };

const listed = [answersJson('By user name.', z.array(listedUserSchema))] as const;
const mapped = [answersJson('By user name.', z.array(userInfoLightSchema))] as const;
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
    ...{ method: 'get', path: '/user/users', operationId: 'searchUsers', tag, summary: 'The same as /account/users' },
    access: ALL_USERS,
    query: { ...SEARCH, AccountId: ACCOUNT_ID },
    isListing: true,
    answers: listed,
    errors: ['not_found'],
  },
  {
    ...{ method: 'post', path: '/account/users', operationId: 'postUserSearch', tag, access: ALL_USERS },
    summary: 'Search users; use GET',
    isDeprecated: true,
    body: jsonBody(searchRequest),
    answers: [answersJson('A page of users.', searchResponse, { headers: { Deprecation: 'true' } })],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/users/visibleToMe', operationId: 'listVisibleUsers', tag, access: MANAGERS },
    summary: 'Users on any account you are allowed on',
    query: { ...SEARCH, AccountIds: idsParameter('Only on these accounts.') },
    isListing: true,
    answers: [answersJson('By user name.', z.array(visibleUserSchema))],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/usersForAccount/:id', operationId: 'listUsersOfAccount', tag, access: ADMINS },
    summary: 'The whole of every user of an account',
    query: PAGING,
    isListing: true,
    answers: [answersJson('By user name.', z.array(userInfoSchema))],
  },
  {
    ...{ method: 'get', path: '/account/usermapping', operationId: 'listUserMapping', tag, access: ALL_USERS },
    summary: 'Ids and names of users',
    ...{ query: PAGING, isListing: true, answers: mapped },
  },
  {
    ...{ method: 'get', path: '/account/usermapping/users', operationId: 'listMappedUsers', tag, access: ALL_USERS },
    summary: 'The same as /account/usermapping',
    ...{ query: PAGING, isListing: true, answers: mapped },
  },
  ...viewOperations(),
];

function viewOperations(): readonly Operation[] {
  const place = { tag: 'Views', access: ALL_USERS, inPath: { id: textId('The id of a view.') } } as const;
  const view = z
    .object({
      id: z.string(),
      name: z.string(),
      ownerUserId: z.string().nullable(),
      filter: filterSchema,
      createdDate: instantSchema,
    })
    .meta({ id: 'View', description: 'A saved filter of users, for the `ViewId` of a listing.' });
  const written = jsonBody(viewSchema.meta({ id: 'ViewWritten' }));
  const path = '/account/users/views';
  return [
    {
      ...{ ...place, method: 'get', path, operationId: 'listViews', summary: 'List views', isListing: true },
      answers: [answersJson('By name.', z.array(view))],
    },
    {
      ...{ ...place, method: 'post', path, operationId: 'createView', summary: 'Save a view', body: written },
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...place, method: 'get', path: `${path}/:id`, operationId: 'getView', summary: 'Read a view' },
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...place, method: 'put', path: `${path}/:id`, operationId: 'updateView', summary: 'Change a view' },
      description: 'By its owner or a manager.',
      body: written,
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...place, method: 'delete', path: `${path}/:id`, operationId: 'deleteView', summary: 'Delete a view' },
      description: 'By its owner or a manager.',
      answers: [emptyAnswer('Deleted.')],
    },
  ];
}
