/** Refetches a user after a change. */
import { useQueryClient } from '@tanstack/react-query';

/** @returns a function that invalidates the queries of the user and of the list of users. */
export function useRenew(id: string) {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([['user', id], ['users']].map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}
