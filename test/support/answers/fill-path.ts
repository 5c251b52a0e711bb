/** Paths of routes with ids in them, for tests that walk all routes. */
import type { Ids, Kind } from '../fixtures/secret-structure.ts';

/** What stands before a parameter → what its ids are of. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...{ sites: 'site', sources: 'source', source: 'source', variables: 'variable', runs: 'run' },
  ...{ user: 'user', claim: 'user', 'active-account': 'account', usersForAccount: 'account' },
  ...{ views: 'view', invitations: 'invitation', mappers: 'mapper', generic: 'mapper', storage: 'file' },
  ...{ operations: 'label', webhooks: 'webhook', history: 'attempt', test: 'webhookTest' },
};

/** The path with ids in it; undefined where what stands before a parameter is not known. */
export function fillPath(path: string, ids: Ids): string | undefined {
  const parts = path.split('/');
  const filled = parts.map((part, index) => {
    const kind = KINDS[parts[index - 1] ?? ''];
    return part.startsWith(':') ? kind && ids[kind] : part;
  });
  return filled.includes(undefined) ? undefined : filled.join('/');
}
