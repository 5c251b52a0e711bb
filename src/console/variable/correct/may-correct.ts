/**
 * Whether the signed-in user may push points. The API shows claims to managers only, so a USER is not offered corrections.
 * The server checks every push again.
 */
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import { useSession } from '../../session/session.tsx';

const MAY_PUSH = 'datapusher.standard';

/** @returns whether a correction is offered. */
export function useMayCorrect(): boolean {
  const { userId, mayManage } = useSession();
  const claims = useQuery({
    queryKey: ['claims', userId],
    queryFn: () => bodyOf(api.GET('/account/user/claim/{userId}', { params: { path: { userId } } })),
    enabled: mayManage,
    staleTime: 300_000,
  });
  return claims.data?.some(({ claimType }) => claimType === MAY_PUSH) ?? false;
}
