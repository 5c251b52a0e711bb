/** OpenAPI description of the routes of sites, sources and variables (R-A9, R-C4–C7). */
import { z } from 'zod';
import { lenientObject } from '../platform/http/lenient.ts';
import { patchSchema } from '../platform/json/json-patch.ts';
import {
  ALL_USERS,
  answersJson,
  answersNothing,
  idSchema,
  jsonBody,
  MANAGERS,
  type Operation,
  patchBody,
} from '../platform/openapi/operation.ts';
import { DELETED, DELETION_OPERATIONS } from './deletion/deletion-docs.ts';
import { formProblemsSchema } from './forms/form-docs.ts';
import type { Resource } from './resource.ts';
import { writableShape } from './resource-input.ts';
import { SITE, SITE_LEVELS } from './site.ts';
import { SOURCE, SOURCE_LEVELS } from './source.ts';
import {
  HARD_DELETE,
  type Levels,
  SITE_ITEM,
  SITE_LIST,
  SOURCE_ITEM,
  SOURCE_LIST,
  VARIABLE_ITEM,
  VARIABLE_LIST,
} from './structure-queries.ts';
import { VARIABLE, VARIABLE_LEVELS } from './variable.ts';

const CHANGED = answersNothing('Changed.');

/** @returns the schemas of the members that a read returns. A member is required when every display level shows it. */
function readShape(resource: Resource, levels: Levels<string>): Record<string, z.ZodType> {
  const shown = Object.values(levels);
  const shape: Record<string, z.ZodType> = { id: idSchema };
  const members = { ...writableShape(resource, Object.keys(resource.fields)) };
  for (const name of Object.keys(resource.derived)) members[name] = z.string();
  for (const [name, schema] of Object.entries(members)) {
    shape[name] = shown.every((names) => names.includes(name)) ? schema : schema.optional();
  }
  return shape;
}

const formProblems = formProblemsSchema.optional().meta({
  description:
    'Values of `clientData` that violate a form: they were stored before the form was created or last changed.',
});
const site = z.object({ ...readShape(SITE, SITE_LEVELS), formProblems }).meta({ id: 'Site' });
const source = z.object({ ...readShape(SOURCE, SOURCE_LEVELS), formProblems }).meta({ id: 'Source' });
const problems = z.array(z.object({ path: z.string(), message: z.string() })).meta({
  description:
    'References in `calculated` to something that was deleted, or to a unit that values can no longer be converted to. A run of a formula fails if one of its inputs was deleted or cannot be converted. A reference to a deleted site or source does not make a run fail: the script gets NULL for its form, and the run gives a warning.',
});
const variable = z
  .object({ ...readShape(VARIABLE, VARIABLE_LEVELS), problems: problems.optional(), formProblems })
  .meta({ id: 'Variable' });

/**
 * Describes the routes of sites, sources, variables and deletions (R-A9).
 * @param calculated schema of the declaration of a calculation; `structure` cannot import it from `calculation`.
 */
export function structureOperations(calculated: z.ZodType): readonly Operation[] {
  const declaration = { calculated: calculated.nullish() };
  const newVariable = lenientObject({ ...writableShape(VARIABLE, []), ...declaration });
  return [
    ...siteOperations(),
    ...DELETION_OPERATIONS,
    ...sourceOperations(),
    ...variableOperations(
      newVariable.meta({
        id: 'VariableWritten',
        examples: [{ name: 'Active energy', mappingConfig: 'kWh', quantityType: 'Integrated', isVersioned: true }],
      }),
    ),
  ];
}

function siteOperations(): readonly Operation[] {
  const tag = 'Sites';
  const change = { tag, access: MANAGERS, answers: [CHANGED] } as const;
  const written = (required: readonly string[]) => lenientObject(writableShape(SITE, required));
  return [
    {
      ...{ method: 'get', path: '/sites', operationId: 'listSites', tag, summary: 'List sites', access: ALL_USERS },
      query: SITE_LIST,
      isListing: true,
      answers: [answersJson('Sites in ascending id order.', z.array(site))],
    },
    {
      ...{ method: 'get', path: '/sites/:id', operationId: 'getSite', tag, summary: 'Read a site', access: ALL_USERS },
      query: SITE_ITEM,
      answers: [answersJson('The site.', site)],
    },
    {
      ...{ method: 'post', path: '/sites', operationId: 'createSite', tag, summary: 'Create a site' },
      access: MANAGERS,
      description: 'A site without `timeZoneId` takes the time zone of the account.',
      body: jsonBody(
        written(SITE.required).meta({
          id: 'SiteCreation',
          examples: [{ name: 'Bakery', timeZoneId: 'Europe/Brussels' }],
        }),
      ),
      answers: [answersJson('Id of the new site.', idSchema)],
    },
    {
      ...{ method: 'put', path: '/sites/:id', operationId: 'updateSite', summary: 'Change a site', ...change },
      description: 'Absent members keep their value; null clears a member. `name` and `timeZoneId` cannot be null.',
      body: jsonBody(written([]).meta({ id: 'SiteUpdate', examples: [{ city: 'Ghent', country: 'Belgium' }] })),
      errors: ['conflict'],
    },
    {
      ...{ method: 'patch', path: '/sites/:id', operationId: 'patchSite', summary: 'Patch a site', ...change },
      body: patchBody(patchSchema),
      errors: ['conflict'],
    },
    {
      ...{ method: 'delete', path: '/sites/:id', operationId: 'deleteSite', summary: 'Delete a site', ...change },
      description: 'Answers 409 while the site has sources, unless `hardDelete` is true.',
      query: HARD_DELETE,
      answers: DELETED,
      errors: ['conflict'],
    },
  ];
}

function sourceOperations(): readonly Operation[] {
  const tag = 'Sources';
  const change = { tag, access: MANAGERS, answers: [CHANGED] } as const;
  const written = (required: readonly string[]) => lenientObject(writableShape(SOURCE, required));
  return [
    {
      ...{
        method: 'get',
        path: '/sources',
        operationId: 'listSources',
        tag,
        summary: 'List sources',
        access: ALL_USERS,
      },
      query: SOURCE_LIST,
      isListing: true,
      answers: [answersJson('Sources in ascending id order.', z.array(source))],
    },
    {
      ...{ method: 'get', path: '/sources/:id', operationId: 'getSource', tag, summary: 'Read a source' },
      access: ALL_USERS,
      query: SOURCE_ITEM,
      answers: [answersJson('The source.', source)],
    },
    {
      ...{ method: 'post', path: '/sources', operationId: 'createSource', tag, summary: 'Create a source' },
      access: MANAGERS,
      body: jsonBody(
        written(SOURCE.required).meta({
          id: 'SourceCreation',
          examples: [{ siteId: 1, name: 'Oven', serialNumber: 'OVEN-1' }],
        }),
      ),
      answers: [answersJson('The source.', source)],
      errors: ['not_found', 'conflict'],
    },
    {
      ...{ method: 'put', path: '/sources/:id', operationId: 'updateSource', summary: 'Change a source', ...change },
      description: 'Absent members keep their value; null clears a member. `siteId` and `name` cannot be null.',
      body: jsonBody(written([]).meta({ id: 'SourceUpdate', examples: [{ serialNumber: 'OVEN-2' }] })),
      errors: ['conflict'],
    },
    {
      ...{ method: 'patch', path: '/sources/:id', operationId: 'patchSource', summary: 'Patch a source', ...change },
      body: patchBody(patchSchema),
      errors: ['conflict'],
    },
    {
      ...{ method: 'delete', path: '/sources/:id', operationId: 'deleteSource', summary: 'Delete a source', ...change },
      description: 'Answers 409 while the source has variables, unless `hardDelete` is true.',
      query: HARD_DELETE,
      answers: DELETED,
      errors: ['conflict'],
    },
  ];
}

function variableOperations(written: z.ZodType): readonly Operation[] {
  const tag = 'Variables';
  const inSource = '/sources/:sourceId/variables/:id';
  const change = { tag, access: MANAGERS, answers: [CHANGED] } as const;
  const listed = [answersJson('Variables in ascending id order.', z.array(variable))] as const;
  return [
    {
      ...{ method: 'get', path: '/variables', operationId: 'listVariables', tag, summary: 'List variables' },
      ...{ access: ALL_USERS, query: VARIABLE_LIST, isListing: true, answers: listed },
    },
    {
      ...{ method: 'get', path: '/variables/source/:sourceId', operationId: 'listVariablesOfSource', tag },
      summary: 'List the variables of a source',
      ...{ access: ALL_USERS, query: VARIABLE_LIST, isListing: true, answers: listed },
    },
    {
      ...{ method: 'get', path: '/variables/:id', operationId: 'getVariable', tag, summary: 'Read a variable' },
      access: ALL_USERS,
      query: VARIABLE_ITEM,
      answers: [answersJson('The variable.', variable)],
    },
    {
      ...{ method: 'post', path: '/variables/source/:sourceId', operationId: 'createVariable', tag },
      summary: 'Create a variable of a source',
      description: 'The source id in the path takes precedence over `sourceId` in the body.',
      access: MANAGERS,
      body: jsonBody(written),
      answers: [answersJson('The variable.', variable)],
      errors: ['conflict', 'calculation_cycle'],
    },
    {
      ...{ method: 'put', path: inSource, operationId: 'updateVariable', summary: 'Change a variable', ...change },
      description: 'Absent members keep their value; null clears a member. `sourceId` cannot be null.',
      body: jsonBody(written),
      errors: ['conflict', 'calculation_cycle'],
    },
    {
      ...{ method: 'patch', path: inSource, operationId: 'patchVariable', summary: 'Patch a variable', ...change },
      body: patchBody(patchSchema),
      errors: ['conflict', 'calculation_cycle'],
    },
    {
      ...{ method: 'delete', path: inSource, operationId: 'deleteVariable', summary: 'Delete a variable', ...change },
      description:
        'The points are removed in the background. If the variable is an input of other calculated variables and `hardDelete` is not true, the answer is 409.',
      query: HARD_DELETE,
      answers: DELETED,
      errors: ['conflict'],
    },
  ];
}
