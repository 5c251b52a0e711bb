/** OpenAPI operations that list and search users, and operations on saved views (R-A9, §4.3). */
import { z } from 'zod';
import {
  ADMINS,
  ALL_USERS,
  answersJson,
  instantSchema,
  jsonBody,
  MANAGERS,
  type Operation,
  textId,
} from '../../platform/openapi/operation.ts';
import {
  emptyAnswer,
  listedUserSchema,
  userInfoLightSchema,
  userInfoSchema,
  visibleUserSchema,
} from '../described-users.ts';
import { USER_MAPPING_LIST, viewSchema } from './listing-routes.ts';
import { filterSchema, requestSchema, USER_LIST, VISIBLE_USER_LIST } from './user-search.ts';

const tag = 'Users';
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
    query: USER_LIST,
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
      summary: 'List and search users, as GET /account/users does',
    },
    access: ALL_USERS,
    query: USER_LIST,
    isListing: true,
    answers: listed,
    errors: ['not_found'],
  },
  {
    ...{ method: 'post', path: '/account/users', operationId: 'postUserSearch', tag, access: ALL_USERS },
    summary: 'Search users. Deprecated: use GET /account/users instead',
    isDeprecated: true,
    body: jsonBody(searchRequest),
    answers: [answersJson('One page of users.', searchResponse, { headers: { Deprecation: 'true' } })],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/users/visibleToMe', operationId: 'listVisibleUsers', tag, access: MANAGERS },
    summary: 'List the users of every account the caller may use',
    query: VISIBLE_USER_LIST,
    isListing: true,
    answers: [answersJson('Sorted by user name.', z.array(visibleUserSchema))],
    errors: ['not_found'],
  },
  {
    ...{ method: 'get', path: '/account/usersForAccount/:id', operationId: 'listUsersOfAccount', tag, access: ADMINS },
    summary: 'List the users of an account, each shown at DisplayLevel Verbose',
    query: USER_MAPPING_LIST,
    isListing: true,
    answers: [answersJson('Sorted by user name.', z.array(userInfoSchema))],
  },
  {
    ...{ method: 'get', path: '/account/usermapping', operationId: 'listUserMapping', tag, access: ALL_USERS },
    summary: 'List ids and names of users',
    ...{ query: USER_MAPPING_LIST, isListing: true, answers: mapped },
  },
  {
    ...{ method: 'get', path: '/account/usermapping/users', operationId: 'listMappedUsers', tag, access: ALL_USERS },
    summary: 'List ids and names of users, as GET /account/usermapping does',
    ...{ query: USER_MAPPING_LIST, isListing: true, answers: mapped },
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
      description: 'Only the owner of the view, a MANAGER or an ADMIN may change it.',
      body: written,
      answers: [answersJson('The view.', view)],
    },
    {
      ...{ ...ofViews, method: 'delete', path: `${path}/:id`, operationId: 'deleteView', summary: 'Delete a view' },
      description: 'Only the owner of the view, a MANAGER or an ADMIN may delete it.',
      answers: [emptyAnswer('Deleted.')],
    },
  ];
}
