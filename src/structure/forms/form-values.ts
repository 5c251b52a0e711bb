/** Lists the sites, sources or variables that have values for a form, with these values and their problems. */
import type { Caller } from '../../identity/caller/caller.ts';
import type { Queryable } from '../../platform/database/database.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import type { Listing } from '../../platform/streaming/stream-listing.ts';
import {
  listResources,
  type Resource,
  type ResourceObject,
  type ResourceSelection,
  selectResources,
} from '../resource.ts';
import { SITE } from '../site.ts';
import { SOURCE } from '../source.ts';
import { VARIABLE } from '../variable.ts';
import { findNewProblems } from './check-values.ts';
import type { EntityType, Form } from './form-definition.ts';

/** The values of a form in one resource. */
export interface FilledForm {
  /** Id of the site, source or variable that has the values. */
  readonly id: number;
  readonly name: string;
  readonly siteId?: number;
  readonly sourceId?: number;
  /** The values by group name and field name: `values[group][field]`. */
  readonly values: unknown;
  readonly problems?: readonly ErrorDetail[];
}

const RESOURCES: Readonly<Record<EntityType, Resource>> = { Site: SITE, Source: SOURCE, Variable: VARIABLE };
/** Members, besides the id, that a `FilledForm` takes from its resource. */
const MEMBERS: Readonly<Record<EntityType, readonly string[]>> = {
  Site: ['name'],
  Source: ['name', 'siteId'],
  Variable: ['name', 'sourceId'],
};

/** Selects the resources that the caller may see and that have values for the fields of the form (R-B9). */
export function selectFilled(caller: Caller, { entityType, name }: Form): ResourceSelection {
  const resource = RESOURCES[entityType];
  const isFilled = (values: unknown[]) =>
    `jsonb_typeof(${resource.table}.client_data -> $${values.push(name)}::text) = 'object'`;
  return selectResources(resource, caller, [], [isFilled]);
}

/** @param isBroken true lists only resources with problems, false lists only those without; undefined lists all. */
export function listFilled(
  form: Form,
  selection: ResourceSelection,
  isBroken: boolean | undefined,
): Listing<number, FilledForm> {
  const members = MEMBERS[form.entityType];
  const { read, ...listing } = listResources(selection, [...members, 'clientData']);
  const readFilled = async (queryable: Queryable, ids: readonly number[]): Promise<readonly FilledForm[]> => {
    const filled = (await read(queryable, ids)).map((item) => toFilled(form, members, item));
    return isBroken === undefined ? filled : filled.filter(({ problems }) => (problems !== undefined) === isBroken);
  };
  return { ...listing, read: readFilled };
}

function toFilled(form: Form, members: readonly string[], item: ResourceObject): FilledForm {
  const clientData = item.clientData as Readonly<Record<string, unknown>>;
  const problems = findNewProblems([form], clientData, undefined, '$.clientData');
  return {
    id: item.id,
    ...(Object.fromEntries(members.map((name) => [name, item[name]])) as { readonly name: string }),
    values: clientData[form.name],
    ...(problems.length > 0 && { problems }),
  };
}
