/** The routes of the console. Home loads with the first view, the others when they are opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { parseDataSearch } from './data/data-address.ts';
import { Home } from './home/home.tsx';
import { parsePeopleSearch } from './people/people-address.ts';
import { Missing } from './shell/missing.tsx';
import { RouteProblem } from './shell/route-problem.tsx';
import { Shell } from './shell/shell.tsx';
import { parseSearch } from './variable/variable-address.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: RouteProblem });
const getParentRoute = () => root;

const home = createRoute({ getParentRoute, path: '/', component: Home });

const find = createRoute({
  getParentRoute,
  path: '/console/find',
  validateSearch: ({ q }: Readonly<Record<string, unknown>>): { readonly q?: string } =>
    q === undefined || q === '' ? {} : { q: String(q) },
  component: lazyRouteComponent(() => import('./find/find.tsx'), 'Find'),
});

const variable = createRoute({
  getParentRoute,
  path: '/console/variables/$variableId',
  params: {
    parse: ({ variableId }) => ({ variableId: Number(variableId) }),
    stringify: ({ variableId }) => ({ variableId: String(variableId) }),
  },
  validateSearch: parseSearch,
  component: lazyRouteComponent(() => import('./variable/variable.tsx'), 'VariablePage'),
});

const data = createRoute({
  getParentRoute,
  path: '/console/data',
  validateSearch: parseDataSearch,
  component: lazyRouteComponent(() => import('./data/data.tsx'), 'DataPage'),
});

const webhooks = createRoute({
  getParentRoute,
  path: '/console/webhooks',
  validateSearch: ({ webhook: id }: Readonly<Record<string, unknown>>): { readonly webhook?: string } =>
    id === undefined || id === '' ? {} : { webhook: String(id) },
  component: lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'WebhooksPage'),
});

const people = createRoute({
  getParentRoute,
  path: '/console/people',
  validateSearch: parsePeopleSearch,
  component: lazyRouteComponent(() => import('./people/people.tsx'), 'PeoplePage'),
});

const operate = createRoute({
  getParentRoute,
  path: '/console/operate',
  component: lazyRouteComponent(() => import('./operate/operate.tsx'), 'OperatePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([home, find, variable, data, webhooks, people, operate]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
