/**
 * The session: the signed-in user, the account, and the permissions of the role. The server checks the permissions
 * again on every call.
 */
import type { User } from 'oidc-client-ts';
import { createContext, type ReactNode, useContext } from 'react';

export type Role = 'ADMIN' | 'MANAGER' | 'USER';

export interface Session {
  readonly userId: string;
  readonly userName: string;
  /** Name of the user, as the console shows it. */
  readonly name: string;
  readonly role: Role;
  /** Account for which the user's tokens were issued; undefined when the tokens name no account. */
  readonly accountId: number | undefined;
  /** Whether the role may change structure, scripts and settings of the account. */
  readonly mayManage: boolean;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** @returns the session described by the user's claims, which come from the ID token and the issuer's `userinfo`. */
export function toSession({ profile }: User): Session {
  const claims = profile as Readonly<Record<string, unknown>>;
  const roles = Array.isArray(claims.roles) ? claims.roles : [];
  const role = (['ADMIN', 'MANAGER'] as const).find((name) => roles.includes(name)) ?? 'USER';
  const userName = String(profile.preferred_username ?? profile.sub);
  const accountId = Number(claims.account);
  return {
    userId: profile.sub,
    userName,
    name: profile.name ?? userName,
    role,
    accountId: Number.isInteger(accountId) ? accountId : undefined,
    mayManage: role !== 'USER',
  };
}

/** Provides the session to `children` and to the components inside them. */
export function SessionProvider({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** @returns the session. @throws {Error} outside SessionProvider. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession must be used inside SessionProvider');
  return session;
}
