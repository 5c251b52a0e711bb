/** OpenAPI description of the routes of forms (R-A9). */
import { z } from 'zod';
import { lenientObject } from '../../platform/http/lenient.ts';
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
import { ENTITY_TYPE, type EntityType, FORM_SHAPE, NEW_FORM } from './form-definition.ts';
import { FORM_LIST, VALUE_LIST } from './form-routes.ts';

const entityType = z.enum(Object.keys(ENTITY_TYPE) as [EntityType, ...EntityType[]]);
const form = z
  .object({
    id: idSchema,
    name: z.string(),
    entityType,
    groups: FORM_SHAPE.groups,
    createdDate: instantSchema,
    modifiedDate: instantSchema,
  })
  .meta({ id: 'Form' });

/** Schema of `formProblems`: the values of a resource that violate a form, each with its path and a message. */
export const formProblemsSchema = z.array(z.object({ path: z.string(), message: z.string() }));

const filledForm = z
  .object({
    id: idSchema.meta({ description: 'Id of the site, source or variable.' }),
    name: z.string(),
    siteId: idSchema.optional(),
    sourceId: idSchema.optional(),
    values: z.record(z.string(), z.unknown()).meta({
      description:
        'Maps a group to an object. The object maps the fields of the group to values. A group can be absent or null.',
    }),
    problems: formProblemsSchema.optional(),
  })
  .meta({ id: 'FilledForm' });

const EXAMPLE = {
  name: 'Boiler',
  entityType: 'Source',
  groups: [
    {
      name: 'Technical',
      fields: [
        { name: 'Power', type: 'Double', minimum: 0, maximum: 5000, unitId: 20, isRequired: true },
        { name: 'Fuel', type: 'Int', isList: true, items: [{ name: 'Gas', value: 1 }] },
      ],
    },
  ],
};

const written = NEW_FORM.meta({ id: 'FormWritten', examples: [EXAMPLE] });
const changed = lenientObject({
  name: FORM_SHAPE.name.nullish(),
  entityType: FORM_SHAPE.entityType.nullish(),
  groups: FORM_SHAPE.groups.nullish(),
}).meta({ id: 'FormChange', examples: [{ groups: EXAMPLE.groups }] });

const tag = 'Forms';

export const FORM_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/form', operationId: 'listForms', tag, summary: 'List forms', access: ALL_USERS },
    query: FORM_LIST,
    isListing: true,
    answers: [answersJson('Forms in ascending id order.', z.array(form))],
  },
  {
    ...{ method: 'get', path: '/form/:id', operationId: 'getForm', tag, summary: 'Read a form', access: ALL_USERS },
    answers: [answersJson('The form.', form)],
  },
  {
    ...{ method: 'get', path: '/form/:id/values', operationId: 'listFormValues', tag, access: ALL_USERS },
    summary: 'List the values of a form',
    description:
      'Lists the sites, sources or variables that have values for the form, each with its values. If a value breaks a rule of the form, the problem is listed too.',
    query: VALUE_LIST,
    isListing: true,
    answers: [answersJson('Resources in ascending id order.', z.array(filledForm))],
  },
  {
    ...{ method: 'post', path: '/form', operationId: 'createForm', tag, summary: 'Create a form', access: MANAGERS },
    description:
      'Later writes of `clientData` are checked against the form. Values stored earlier stay unchanged; `GET /form/{id}/values` lists them with their problems.',
    body: jsonBody(written),
    answers: [answersJson('The form.', form)],
    errors: ['conflict'],
  },
  {
    ...{ method: 'put', path: '/form/:id', operationId: 'updateForm', tag, summary: 'Change a form', access: MANAGERS },
    description:
      'Absent members stay unchanged. The answer is 409 if `name` or `entityType` changes while resources have values for the form.',
    body: jsonBody(changed),
    answers: [answersNothing('Changed.')],
    errors: ['conflict'],
  },
  {
    ...{ method: 'delete', path: '/form/:id', operationId: 'deleteForm', tag, summary: 'Delete a form' },
    access: MANAGERS,
    description: 'The values stay in `clientData` but are no longer checked.',
    answers: [answersNothing('Deleted.')],
  },
];
