/** The routes of the console. Home loads with the first view, the others when they are opened. */
import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { Home } from './home/home.tsx';
import { Missing } from './shell/missing.tsx';
import { RouteProblem } from './shell/route-problem.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: RouteProblem });

const home = createRoute({ getParentRoute: () => root, path: '/', component: Home });

export const router = createRouter({
  routeTree: root.addChildren([home]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
