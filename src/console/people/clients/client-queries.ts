/** The query for the OAuth clients of the installation. The list of clients and the page of a client share it. */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

/** @returns a query for the list of all clients. */
export function useClients() {
  return useQuery({ queryKey: ['clients'], queryFn: () => bodyOf(api.GET('/admin/clients')) });
}
