/**
 * Routes by which all users read the catalogues (R-C8): units, unit families, enumerations, types, time zones and
 * languages. The routes in `own-entry-routes.ts` let managers add, change and delete entries of their account.
 */
import { type Context, Hono } from 'hono';
import type { CallerEnv } from '../../identity/authentication/authenticate.ts';
import type { Queryable } from '../../platform/database/database.ts';
import { setTotalCount } from '../../platform/http/listing-response.ts';
import { PAGING, pageOf, toPaging } from '../../platform/http/paging.ts';
import { declareQuery, type QueryValues } from '../../platform/http/query.ts';
import { idsParameter, named } from '../../platform/http/query-parameters.ts';
import { AGGREGATE, GRANULARITY, PERIOD_TYPE, QUANTITY_TYPE, TIME_PERIOD } from './enumerations.ts';
import { listLanguages } from './languages.ts';
import { timeZoneLister } from './list-time-zones.ts';
import { listTypes, listVariableTypes } from './list-types.ts';
import { listUnitFamilies, listUnits } from './units.ts';

/** Maps each path to the enumeration that the path serves. The answer lists each name with its number (`id`). */
const ENUMERATIONS = {
  '/granularity': GRANULARITY,
  '/timePeriods': TIME_PERIOD,
  '/aggregates': AGGREGATE,
  '/quantityTypes': QUANTITY_TYPE,
  '/variables/periodTypes': PERIOD_TYPE,
} as const;

/** Maps each path to the catalogue of types that the path serves. */
const TYPES = {
  '/sitetypes': 'SiteType',
  '/sourceTypes': 'SourceType',
  '/energyTypes': 'EnergyType',
  '/energyUsages': 'EnergyUsage',
} as const;

export const CATALOGUE_LIST = declareQuery(PAGING, { isListing: true });
export const UNIT_LIST = declareQuery(
  {
    unitFamilyId: named(idsParameter('Only units of these families.'), 'unitFamilyIds'),
    ...PAGING,
  },
  { isListing: true },
);

/**
 * Routes of the catalogues (R-C8). They must be mounted before the variable routes, because `/variables/{id}` also
 * matches `/variables/types` and `/variables/periodTypes`.
 */
export function catalogueRoutes(database: Queryable): Hono<CallerEnv> {
  const listTimeZones = timeZoneLister(database);
  const routes = new Hono<CallerEnv>()
    .get('/units', async (c) => {
      const query = UNIT_LIST.parse(c.req.url);
      const families = new Set(query.unitFamilyId);
      const units = await listUnits(database, c.var.caller.accountId);
      return answerPage(
        c,
        query,
        units.filter(({ unitFamilyId }) => families.size === 0 || families.has(unitFamilyId)),
      );
    })
    .get('/unitFamily', async (c) => answer(c, await listUnitFamilies(database, c.var.caller.accountId)))
    .get('/timezones', async (c) => answer(c, await listTimeZones()))
    .get('/languages', (c) => answer(c, LANGUAGES))
    .get('/variables/types', async (c) => answer(c, await listVariableTypes(database, c.var.caller.accountId)));
  for (const [path, members] of Object.entries(ENUMERATIONS)) {
    const items = Object.entries(members).map(([name, id]) => ({ id, name }));
    routes.get(path, (c) => answer(c, items));
  }
  for (const [path, catalogue] of Object.entries(TYPES)) {
    routes.get(path, async (c) => answer(c, await listTypes(database, c.var.caller.accountId, catalogue)));
  }
  return routes;
}

const LANGUAGES = listLanguages();

function answer(c: Context<CallerEnv>, items: readonly unknown[]): Response {
  return answerPage(c, CATALOGUE_LIST.parse(c.req.url), items);
}

/**
 * Answers with the requested page of the items; without a page size in the query, page 0 has all items. Sets the header
 * `x-total-count` when the client requested it.
 */
function answerPage(c: Context<CallerEnv>, query: QueryValues<typeof PAGING>, items: readonly unknown[]): Response {
  setTotalCount(c, items.length);
  return c.json(pageOf(items, toPaging(query)));
}
