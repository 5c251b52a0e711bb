/** The providers around all routes: theme, server state and session. */
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ApiError } from './api/client.ts';
import { router } from './routes.tsx';
import { SessionProvider, toSession } from './session/session.tsx';
import type { SignInOutcome } from './session/sign-in.ts';
import { SignedOut } from './session/signed-out.tsx';
import { theme } from './shell/theme.ts';

const MAX_RETRIES = 2;
const STALE_MS = 30_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < MAX_RETRIES && error instanceof ApiError && isPassing(error.status),
    },
  },
});

/** Whether the same call may succeed a moment later. */
function isPassing(status: number): boolean {
  return status === 0 || status === 429 || status === 503;
}

/** The whole console. Mantine's inline style tags are off: theme.css and Mantine's style sheets replace them. */
export function App({ outcome }: { readonly outcome: Exclude<SignInOutcome, { kind: 'leaving' }> }) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withStaticClasses={false}
      withGlobalClasses={false}
    >
      {outcome.kind === 'signed_in' ? (
        <QueryClientProvider client={queries}>
          <SessionProvider session={toSession(outcome.user)}>
            <Notifications position="bottom-right" />
            <RouterProvider router={router} />
          </SessionProvider>
        </QueryClientProvider>
      ) : (
        <SignedOut problem={outcome.kind === 'failed' ? outcome.message : undefined} />
      )}
    </MantineProvider>
  );
}
