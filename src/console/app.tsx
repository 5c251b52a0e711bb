/** The providers around all routes: theme, server state and session. */
import { Button, createTheme, type MantineColorsTuple, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiError } from './api/client.ts';
import { Problem } from './parts/problem.tsx';
import { router } from './routes.tsx';
import { SessionProvider, toSession } from './session/session.tsx';
import { type SignInOutcome, signIn } from './session/sign-in.ts';
import mark from './shell/tidemark.svg';
import classes from './signed-out.module.css';

const MAX_RETRIES = 2;
const STALE_MS = 30_000;

// The shades of `tide` are CSS variables of theme.css: the Content-Security-Policy refuses Mantine's style tags.
const shade = (index: number) => `var(--mantine-color-tide-${index})`;
const TIDE: MantineColorsTuple = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(shade) as unknown as MantineColorsTuple;

const theme = createTheme({
  primaryColor: 'tide',
  colors: { tide: TIDE },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the scroll bar would insert a style tag, which the Content-Security-Policy refuses.
    Modal: { defaultProps: { lockScroll: false, centered: true } },
    // Puts hints below inputs, so that the inputs of a row are aligned.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
    Drawer: { defaultProps: { lockScroll: false } },
    Menu: { defaultProps: { shadow: 'md', withinPortal: true } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < MAX_RETRIES && error instanceof ApiError && isPassing(error.status),
    },
  },
});

/** Whether a call that failed with this status may succeed when it is repeated a moment later. */
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

/**
 * The page for people who are signed out, or whose sign-in failed.
 * @param problem why the sign-in failed; undefined when the person signed out.
 */
function SignedOut({ problem }: { readonly problem: string | undefined }) {
  const { t } = useTranslation();
  return (
    <main className={classes.page}>
      <img src={mark} alt="" width="48" height="48" />
      <h1>{t(problem === undefined ? 'signedOut.title' : 'signedOut.failed')}</h1>
      {problem !== undefined && <Problem error={new Error(problem)} />}
      <Button size="md" onClick={() => void signIn('/')}>
        {t('signedOut.again')}
      </Button>
    </main>
  );
}
