/** API calls for calculated variables: validation, evaluation, saving, history, runs, waves and schedules. */
import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.ts';
import type { components } from '../api/openapi.d.ts';
import { toFilter } from '../find/search-rules.ts';
import { type Declaration, NO_RESULT } from './declaration.ts';
import type { RunFilter } from './runs/run-filter.ts';

export type Evaluation = components['schemas']['Evaluation'];
export type Validation = components['schemas']['Validation'];
export type Save = components['schemas']['DeclarationSave'];
export type Run = components['schemas']['Run'];
export type Wave = components['schemas']['Wave'];

/** The id of a variable and the id of its source. The paths of some API calls contain both ids. */
export interface Place {
  readonly sourceId: number;
  readonly id: number;
}

/** Dates of a preview; an empty string is not sent. A date without a zone is in the source's local time. */
export interface PreviewDates {
  readonly from: string;
  readonly to: string;
}

const RUNS_PER_PAGE = 50;
const MAX_FOUND = 20;
const BUSY_MS = 1000;
const CALM_MS = 10_000;

/** @returns a query that asks the service for the problems and warnings of a declaration. */
export function useValidation({ sourceId, id }: Place, declaration: Declaration, isWanted: boolean) {
  return useQuery({
    queryKey: ['validate', id, declaration],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/sources/{sourceId}/variables/{id}/calculated/validate', {
          params: { path: { sourceId, id } },
          body: { calculated: declaration, pictures: 'svg' },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled: isWanted,
    gcTime: 0,
  });
}

/**
 * Runs a declaration without storing the result.
 * @throws {ApiError} when the API refuses the call or cannot be reached; an AbortError when `signal` aborts.
 */
export function evaluate(
  { sourceId, id }: Place,
  declaration: Declaration,
  { from, to }: PreviewDates,
  signal?: AbortSignal,
): Promise<Evaluation> {
  return bodyOf(
    api.POST('/sources/{sourceId}/variables/{id}/calculated/evaluate', {
      params: { path: { sourceId, id } },
      body: { calculated: declaration, pictures: 'svg', ...(from !== '' && { from }), ...(to !== '' && { to }) },
      ...(signal && { signal }),
    }),
  );
}

/**
 * @returns a query for the windows that a run of the declaration would read. The query does not execute the author's
 *   scripts.
 */
export function useWindows(place: Place, declaration: Declaration, dates: PreviewDates, isWanted: boolean) {
  const formulas = declaration.calculatedVariableFormulas.map((formula) => ({ ...formula, formula: NO_RESULT }));
  return useQuery({
    queryKey: ['windows', place.id, formulas, dates],
    queryFn: ({ signal }) => evaluate(place, { ...declaration, calculatedVariableFormulas: formulas }, dates, signal),
    placeholderData: keepPreviousData,
    enabled: isWanted && formulas.some(({ variables }) => variables.length > 0),
    retry: false,
    gcTime: 0,
  });
}

/**
 * Saves a declaration.
 * @param before the declaration without the user's changes, as the API returned it. If `before` is given and the stored
 *   declaration is a different one, the save fails.
 * @throws {ApiError} when the API refuses the call or cannot be reached.
 */
export async function saveDeclaration(
  { sourceId, id }: Place,
  before: unknown,
  declaration: Declaration,
  note: string,
): Promise<void> {
  const value = { ...declaration, ...(note !== '' && { note }) };
  const body = [
    ...(before ? [{ op: 'test' as const, path: '/calculated', value: before }] : []),
    { op: 'add' as const, path: '/calculated', value },
  ];
  const params = { path: { sourceId, id } };
  await bodyOf(
    api.PATCH('/sources/{sourceId}/variables/{id}', {
      params,
      body,
      headers: { 'Content-Type': 'application/json-patch+json' },
    }),
  );
}

/** Number of saves that `useHistory` reads. `History` shows one fewer, because each is compared with the save before. */
export const HISTORY_LENGTH = 101;

/** @returns a query for the newest saved declarations of a variable, the latest first: at most HISTORY_LENGTH. */
export function useHistory({ sourceId, id }: Place) {
  return useQuery({
    queryKey: ['declarations', id],
    queryFn: () =>
      bodyOf(
        api.GET('/sources/{sourceId}/variables/{id}/calculated/history', {
          params: { path: { sourceId, id }, query: { itemsPerPage: HISTORY_LENGTH } },
        }),
      ),
  });
}

/** @returns a query whose data is a map from id to variable. The map lacks variables that the user cannot read. */
export function useVariables(ids: readonly number[]) {
  const variableIds = [...new Set(ids)].sort((a, b) => a - b);
  return useQuery({
    queryKey: ['variables', variableIds],
    queryFn: async () => {
      const found = await bodyOf(api.GET('/variables', { params: { query: { variableIds } } }));
      return new Map(found.map((variable) => [variable.id, variable] as const));
    },
    enabled: variableIds.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 300_000,
  });
}

/** @returns a query for at most 20 variables: those that match `toFilter(text)`, or any when `text` is blank. */
export function useFoundVariables(text: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['found-variables', text],
    queryFn: () => {
      const filter = text.trim() === '' ? {} : { customFilter: toFilter(text, 'variables') };
      const query = { ...filter, pageNumber: 0, itemsPerPage: MAX_FOUND };
      return bodyOf(api.GET('/variables', { params: { query } }));
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
}

/** @returns a query for the next instants that match a cron expression in a time zone. */
export function useInstants(cron: string, timeZoneId: string) {
  return useQuery({
    queryKey: ['instants', cron, timeZoneId],
    queryFn: () => bodyOf(api.GET('/calculated/instants', { params: { query: { cron, timeZoneId } } })),
    enabled: cron.trim() !== '',
    retry: false,
  });
}

/** @returns a query for the current run and the waiting requests of a variable. */
export function useUpdateState(id: number) {
  return useQuery({
    queryKey: ['update-state', id],
    queryFn: () => bodyOf(api.GET('/variables/{id}/updateState', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data && (data.running || data.waiting.length > 0) ? BUSY_MS : CALM_MS),
  });
}

/** @returns a query for the runs of a variable that match the filter, in pages; the newest runs come first. */
export function useRuns(id: number, { state, trigger, from, to }: RunFilter) {
  return useInfiniteQuery({
    queryKey: ['run-pages', id, state, trigger, from, to],
    queryFn: ({ pageParam }) => {
      const query = {
        ...(state && { states: [state] }),
        ...(trigger && { triggers: [trigger] }),
        ...(from && { from }),
        ...(to && { to }),
        pageNumber: pageParam,
        itemsPerPage: RUNS_PER_PAGE,
      };
      return bodyOf(api.GET('/variables/{id}/runs', { params: { path: { id }, query } }));
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < RUNS_PER_PAGE ? undefined : pages.length),
  });
}

/** @returns a query for one run, with the declaration that was run. The declaration can be null. */
export function runQuery(id: number) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: () => bodyOf(api.GET('/runs/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data?.state === 'Running' ? BUSY_MS : false),
  });
}

/** @returns a query for the wave of a run. The query polls while a run of the wave is waiting or under way. */
export function useWave(id: number) {
  return useQuery({
    queryKey: ['wave', id],
    queryFn: () => bodyOf(api.GET('/runs/{id}/wave', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) =>
      data?.nodes.some(({ state }) => state === 'Waiting' || state === 'Running') ? 2 * BUSY_MS : false,
  });
}
