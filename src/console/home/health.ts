/** The account's health, read again every half minute while Home is visible. */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.ts';
import type { components } from '../api/openapi.d.ts';

export type Health = components['schemas']['AccountHealth'];

const REFRESH_MS = 30_000;

/** Kinds of items that need attention, in the order of the tiles on Home. */
export const KINDS = ['silent', 'calculations', 'pushes', 'files', 'webhooks'] as const;
export type Kind = (typeof KINDS)[number];

/** @returns the query that reads the account's health. */
export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: () => bodyOf(api.GET('/account/health')),
    refetchInterval: REFRESH_MS,
  });
}

/** @returns how many items of each kind need attention. The result lacks the kinds that the role may not see. */
export function countTroubles({ variables, calculations, pushes, files, webhooks }: Health) {
  const counts: Partial<Record<Kind, number>> = {
    silent: variables.silent.count,
    calculations: calculations.count,
    pushes: pushes.count,
    files: files.count,
  };
  if (webhooks) counts.webhooks = webhooks.count;
  return counts;
}
