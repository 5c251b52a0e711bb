/** The clients of the installation, which the list and the page of a client share. */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

/** Reads all clients; there are few. */
export function useClients() {
  return useQuery({ queryKey: ['clients'], queryFn: () => bodyOf(api.GET('/admin/clients')) });
}
