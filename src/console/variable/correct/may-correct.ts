/** Asks the API whether the signed-in user may push points to a variable. */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import { settings } from '../../session/settings.ts';

/** @returns whether the user may push points to the variable; false before the answer and when the call fails. */
export function useMayCorrect(variableId: number): boolean {
  const targets = useQuery({
    queryKey: ['targets', variableId],
    queryFn: () => {
      const query = { variableIds: [variableId] };
      return bodyOf(api.GET('/api/data/targets', { baseUrl: settings.push, params: { query } }));
    },
    staleTime: 300_000,
  });
  return (targets.data?.length ?? 0) > 0;
}
