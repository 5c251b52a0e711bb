/**
 * The query parameters of the routes of sites, sources and variables (R-C4–C7); used by the routes and by their OpenAPI
 * description.
 */
import { PAGING } from '../platform/http/paging.ts';
import { declareQuery } from '../platform/http/query.ts';
import {
  enumerationParameter,
  flagParameter,
  idsParameter,
  named,
  numberedFrom0,
  optionalFlagParameter,
  textParameter,
} from '../platform/http/query-parameters.ts';
import { SITE_LEVELS } from './site.ts';
import { SOURCE_LEVELS } from './source.ts';
import { VARIABLE_LEVELS } from './variable.ts';

/** Display level → names of the members it shows. */
export type Levels<Level extends string> = Readonly<Record<Level, readonly string[]>>;

const levelParameter = <Level extends string>(levels: Levels<Level>, fallback: NoInfer<Level>) =>
  enumerationParameter(
    'Decides which members the answer shows.',
    numberedFrom0(Object.keys(levels) as Level[]),
    fallback,
  );
const customFilter = textParameter(
  "Filter expression over members. Operators: `=`, `<>`, `>`, `>=`, `<`, `<=`, `~` (contains), `!~`, `startswith`, `!startswith`, AND, OR and parentheses. Example: `name ~ 'oven' AND Form.Group.'Field' = 3`. A filter of sources may use `Site{…}` for conditions on their site.",
);

/**
 * Id filters and their other names (R-A12), such as `siteId` for `siteIds`. A listing also accepts `id` and `ids` for
 * the ids of its own kind.
 */
const ofSites = (description: string, ...own: readonly string[]) => named(idsParameter(description), ...own, 'siteId');
const ofSources = (description: string, ...own: readonly string[]) =>
  named(idsParameter(description), ...own, 'sourceId', 'sourcesId');
const ofVariables = (description: string, ...own: readonly string[]) =>
  named(idsParameter(description), ...own, 'variableId');

export const SITE_LIST = declareQuery(
  {
    displayLevel: levelParameter(SITE_LEVELS, 'Normal'),
    siteIds: ofSites('Return the sites with these ids.', 'id', 'ids'),
    sourceIds: ofSources('Return the sites of these sources.'),
    variableIds: ofVariables('Return the sites of these variables.'),
    customFilter,
    ...PAGING,
  },
  { isListing: true },
);
export const SITE_ITEM = declareQuery({ displayLevel: levelParameter(SITE_LEVELS, 'VerboseSite') });

export const SOURCE_LIST = declareQuery(
  {
    displayLevel: levelParameter(SOURCE_LEVELS, 'Normal'),
    sourceIds: ofSources('Return the sources with these ids.', 'id', 'ids'),
    siteIds: ofSites('Return the sources of these sites.'),
    variableIds: ofVariables('Return the sources of these variables.'),
    customFilter,
    ...PAGING,
  },
  { isListing: true },
);
export const SOURCE_ITEM = declareQuery({ displayLevel: levelParameter(SOURCE_LEVELS, 'Verbose') });

export const VARIABLE_LIST = declareQuery(
  {
    displayLevel: levelParameter(VARIABLE_LEVELS, 'Normal'),
    variableIds: ofVariables('Return the variables with these ids.', 'id', 'ids'),
    sourceIds: ofSources('Return the variables of these sources.'),
    siteIds: ofSites('Return the variables of these sites.'),
    hasProblems: optionalFlagParameter(
      '`true`: returns only calculated variables whose declaration refers to something that was deleted, or to a unit to which values can no longer be converted. `false`: returns only variables that have no such declaration.',
    ),
    customFilter,
    ...PAGING,
  },
  { isListing: true },
);
export const VARIABLE_ITEM = declareQuery({ displayLevel: levelParameter(VARIABLE_LEVELS, 'Verbose') });

export const HARD_DELETE = declareQuery({
  hardDelete: flagParameter(
    'Also deletes everything below the resource, and deletes variables even while calculated variables read them. Points are removed in the background.',
  ),
});
