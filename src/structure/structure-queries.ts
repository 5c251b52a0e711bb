/** The queries of sites, sources and variables (R-C4–C7), for routes and their description alike. */
import { PAGING } from '../platform/http/paging.ts';
import { declareQuery } from '../platform/http/query.ts';
import { choiceParameter, flagParameter, idsParameter, textParameter } from '../platform/http/query-parameters.ts';
import { SITE_LEVELS } from './site.ts';
import { SOURCE_LEVELS } from './source.ts';
import { VARIABLE_LEVELS } from './variable.ts';

/** Display level → names of the members it shows. */
export type Levels<Level extends string> = Readonly<Record<Level, readonly string[]>>;

const levelParameter = <Level extends string>(levels: Levels<Level>, fallback: NoInfer<Level>) =>
  choiceParameter('Which members the answer shows.', Object.keys(levels) as Level[], fallback);
const customFilter = textParameter(
  "Filter expression over members. Operators: `=`, `<>`, `>`, `>=`, `<`, `<=`, `~` (contains), `!~`, `startswith`, `!startswith`, AND, OR and parentheses. Example: `name ~ 'oven' AND Form.Group.'Field' = 3`. A filter of sources may use `Site{…}` for conditions on their site.",
);

export const SITE_LIST = declareQuery({
  displayLevel: levelParameter(SITE_LEVELS, 'Normal'),
  siteIds: idsParameter('Site ids to return.'),
  sourceIds: idsParameter('Return the sites of these sources.'),
  customFilter,
  ...PAGING,
});
export const SITE_ITEM = declareQuery({ displayLevel: levelParameter(SITE_LEVELS, 'VerboseSite') });

export const SOURCE_LIST = declareQuery({
  displayLevel: levelParameter(SOURCE_LEVELS, 'Normal'),
  id: idsParameter('Source ids to return.'),
  sourceIds: idsParameter('Source ids to return.'),
  siteId: idsParameter('Return the sources of these sites.'),
  siteIds: idsParameter('Return the sources of these sites.'),
  customFilter,
  ...PAGING,
});
export const SOURCE_ITEM = declareQuery({ displayLevel: levelParameter(SOURCE_LEVELS, 'Verbose') });

export const VARIABLE_LIST = declareQuery({
  displayLevel: levelParameter(VARIABLE_LEVELS, 'Normal'),
  id: idsParameter('Variable ids to return.'),
  variableId: idsParameter('Variable ids to return.'),
  variableIds: idsParameter('Variable ids to return.'),
  sourceId: idsParameter('Return the variables of these sources.'),
  sourceIds: idsParameter('Return the variables of these sources.'),
  sourcesId: idsParameter('Return the variables of these sources.'),
  customFilter,
  ...PAGING,
});
export const VARIABLE_ITEM = declareQuery({ displayLevel: levelParameter(VARIABLE_LEVELS, 'Verbose') });

export const HARD_DELETE = declareQuery({
  hardDelete: flagParameter('Also deletes everything below it; points are removed in the background.'),
});
