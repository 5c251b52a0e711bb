/** Refetches a user after a change. */
import { useQueryClient } from '@tanstack/react-query';

/** @returns a function that refetches the user and the list of users. */
export function useRenew(id: string) {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([['user', id], ['users']].map((queryKey) => queries.invalidateQueries({ queryKey })));
  };
}
