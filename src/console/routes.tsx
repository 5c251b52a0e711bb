/**
 * The routes of the console. The code of Home is always loaded. The code of another route is loaded when the user
 * points at a link to the route, focuses such a link, or opens the route.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { parseRunFilter } from './calculated/runs/run-filter.ts';
import { Home } from './home/home.tsx';
import { Problem } from './parts/problem.tsx';
import classes from './parts/view.module.css';
import { Shell } from './shell/shell.tsx';
import { parseSearch } from './variable/variable-address.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: RouteProblem });
const getParentRoute = () => root;

/**
 * @returns a parser that keeps only the query parameters that `names` lists and that are not empty. The parser returns
 *   their values as strings, because the router has already turned a text such as `12` into a number.
 */
function keepTexts<Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { readonly [Key in Name]?: string } => {
    const given = names.filter((name) => search[name] !== undefined && search[name] !== '');
    return Object.fromEntries(given.map((name) => [name, String(search[name])])) as { [Key in Name]?: string };
  };
}

const home = createRoute({ getParentRoute, path: '/', component: Home });

const find = createRoute({
  getParentRoute,
  path: '/console/find',
  validateSearch: keepTexts('q'),
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

const siteParams = {
  parse: ({ siteId }: { readonly siteId: string }) => ({ siteId: Number(siteId) }),
  stringify: ({ siteId }: { readonly siteId: number }) => ({ siteId: String(siteId) }),
};
const sourceParams = {
  parse: ({ sourceId }: { readonly sourceId: string }) => ({ sourceId: Number(sourceId) }),
  stringify: ({ sourceId }: { readonly sourceId: number }) => ({ sourceId: String(sourceId) }),
};
const structurePages = () => import('./structure/pages.tsx');

const newSite = createRoute({
  getParentRoute,
  path: '/console/sites/new',
  component: lazyRouteComponent(structurePages, 'NewSitePage'),
});

const site = createRoute({
  getParentRoute,
  path: '/console/sites/$siteId',
  params: siteParams,
  component: lazyRouteComponent(structurePages, 'SitePage'),
});

const newSource = createRoute({
  getParentRoute,
  path: '/console/sites/$siteId/new-source',
  params: siteParams,
  component: lazyRouteComponent(structurePages, 'NewSourcePage'),
});

const source = createRoute({
  getParentRoute,
  path: '/console/sources/$sourceId',
  params: sourceParams,
  component: lazyRouteComponent(structurePages, 'SourcePage'),
});

const newVariable = createRoute({
  getParentRoute,
  path: '/console/sources/$sourceId/new-variable',
  params: sourceParams,
  component: lazyRouteComponent(structurePages, 'NewVariablePage'),
});

const data = createRoute({
  getParentRoute,
  path: '/console/data',
  // Query parameters: the open tab, and the file, import, push (by its label) or mapper that is open in the tab.
  validateSearch: keepTexts('tab', 'file', 'import', 'label', 'mapper'),
  component: lazyRouteComponent(() => import('./data/data.tsx'), 'DataPage'),
});

const webhooks = createRoute({
  getParentRoute,
  path: '/console/webhooks',
  validateSearch: keepTexts('webhook'),
  component: lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'WebhooksPage'),
});

const people = createRoute({
  getParentRoute,
  path: '/console/people',
  // Query parameters: the open tab, the user or client that is open in the tab, and the filters of the audit trail.
  validateSearch: keepTexts('tab', 'user', 'client', 'action', 'by', 'target', 'from', 'to', 'scope'),
  component: lazyRouteComponent(() => import('./people/people.tsx'), 'PeoplePage'),
});

const settings = createRoute({
  getParentRoute,
  path: '/console/settings',
  // Query parameters: the open tab, and the form or catalogue that is open in the tab.
  validateSearch: keepTexts('tab', 'form', 'catalogue'),
  component: lazyRouteComponent(() => import('./settings/settings.tsx'), 'SettingsPage'),
});

const operate = createRoute({
  getParentRoute,
  path: '/console/operate',
  component: lazyRouteComponent(() => import('./operate/operate.tsx'), 'OperatePage'),
});

const idParams = {
  parse: ({ variableId }: { readonly variableId: string }) => ({ variableId: Number(variableId) }),
  stringify: ({ variableId }: { readonly variableId: number }) => ({ variableId: String(variableId) }),
};

const properties = createRoute({
  getParentRoute,
  path: '/console/variables/$variableId/properties',
  params: idParams,
  component: lazyRouteComponent(structurePages, 'PropertiesPage'),
});

const script = createRoute({
  getParentRoute,
  path: '/console/variables/$variableId/script',
  params: idParams,
  component: lazyRouteComponent(() => import('./calculated/script/script-page.tsx'), 'ScriptPage'),
});

const runs = createRoute({
  getParentRoute,
  path: '/console/variables/$variableId/runs',
  params: idParams,
  validateSearch: parseRunFilter,
  component: lazyRouteComponent(() => import('./calculated/runs/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute,
  path: '/console/runs/$runId',
  params: {
    parse: ({ runId }) => ({ runId: Number(runId) }),
    stringify: ({ runId }) => ({ runId: String(runId) }),
  },
  component: lazyRouteComponent(() => import('./calculated/runs/run-page.tsx'), 'RunPage'),
});

const create = createRoute({
  getParentRoute,
  path: '/console/variables/new',
  validateSearch: ({ input }: Readonly<Record<string, unknown>>): { readonly input?: number } =>
    Number.isInteger(Number(input)) && Number(input) > 0 ? { input: Number(input) } : {},
  component: lazyRouteComponent(() => import('./calculated/create-page.tsx'), 'CreatePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...[home, find, variable, properties, script, runs, run, create, data, webhooks, people, operate],
    ...[settings, newSite, site, newSource, source, newVariable],
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

/** Tells the user that there is no page at this URL, and links to Home. */
function Missing() {
  const { t } = useTranslation();
  return (
    <>
      <h1>{t('missing.title')}</h1>
      <p className={classes.lead}>{t('missing.text')}</p>
      <p className={classes.bar}>
        <Link to="/">{t('missing.home')}</Link>
      </p>
    </>
  );
}

/** Shows the error of a route that failed while it was rendered; trying again renders the route anew. */
function RouteProblem({ error, reset }: ErrorComponentProps) {
  return <Problem error={error} onRetry={reset} />;
}

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
