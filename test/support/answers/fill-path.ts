/** Puts ids in place of the parameters in the paths of routes, for tests that call all routes. */
import type { Ids, Kind } from '../fixtures/secret-structure.ts';

/** Path segment → kind of the id that follows this segment in a path. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...{ sites: 'site', sources: 'source', source: 'source', variables: 'variable', runs: 'run' },
  ...{ user: 'user', claim: 'user', 'active-account': 'account', usersForAccount: 'account' },
  ...{
    views: 'view',
    invitations: 'invitation',
    mappers: 'mapper',
    generic: 'mapper',
    storage: 'file',
    import: 'import',
  },
  ...{ form: 'form', units: 'unit', unitFamily: 'unitFamily', sitetypes: 'siteType', sourceTypes: 'sourceType' },
  ...{ energyTypes: 'energyType', energyUsages: 'energyUsage', types: 'variableType', features: 'feature' },
  ...{
    operations: 'label',
    webhooks: 'webhook',
    history: 'attempt',
    clients: 'label',
    test: 'webhookTest',
    deletions: 'deletion',
  },
};

/** @returns the path with ids in place of its parameters; undefined when the segment before a parameter is unknown. */
export function fillPath(path: string, ids: Ids): string | undefined {
  const parts = path.split('/');
  const filled = parts.map((part, index) => {
    const kind = KINDS[parts[index - 1] ?? ''];
    return part.startsWith(':') ? kind && ids[kind] : part;
  });
  return filled.includes(undefined) ? undefined : filled.join('/');
}
