/** Queries a variable together with its source, site and unit, but without its points. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.ts';
import type { components } from '../api/openapi.d.ts';

export type Variable = components['schemas']['Variable'];
type Source = components['schemas']['Source'];
type Site = components['schemas']['Site'];
type Unit = components['schemas']['Unit'];

/** A variable with its source, site and unit. */
export interface VariableContext {
  readonly variable: Variable;
  readonly source: Source;
  readonly site: Site;
  /** Symbol of the unit; name of the unit when it has no symbol; empty when the variable has no unit. */
  readonly unit: string;
  /** Zone in which dates are shown: the source's, else the site's. */
  readonly timeZone: string;
}

/** @returns the query of a variable with its source, site and unit. */
export function variableQuery(id: number) {
  return queryOptions({
    queryKey: ['variable', id],
    queryFn: async (): Promise<VariableContext> => {
      const filter = { variableIds: [id] };
      const [variable, sources, sites, units] = await Promise.all([
        bodyOf(api.GET('/variables/{id}', { params: { path: { id } } })),
        bodyOf(api.GET('/sources', { params: { query: filter } })),
        bodyOf(api.GET('/sites', { params: { query: filter } })),
        bodyOf(api.GET('/units')),
      ]);
      const [source] = sources;
      const [site] = sites;
      if (!source || !site) throw new Error(`the source or the site of variable ${id} was not found`);
      return {
        variable,
        source,
        site,
        unit: symbolOf(units, variable.unitId),
        timeZone: source.timeZoneId ?? site.timeZoneId,
      };
    },
    staleTime: 300_000,
  });
}

function symbolOf(units: readonly Unit[], unitId: number | null): string {
  const unit = units.find(({ id }) => id === unitId);
  return unit ? unit.symbol || unit.name : '';
}

/** Runs `variableQuery` in a component. @returns the state of the query: pending, failed, or its data. */
export function useVariable(id: number) {
  return useQuery(variableQuery(id));
}
