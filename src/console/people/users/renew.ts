/** Shows a user anew after a change. */
import { useQueryClient } from '@tanstack/react-query';

/** @returns a function that shows the user and the list anew. */
export function useRenew(id: string) {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([['user', id], ['users']].map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}
