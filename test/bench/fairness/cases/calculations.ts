/**
 * Slots of a calculator: account A forces runs of scripts that sleep, and also evaluates such scripts. Account B forces
 * a run of a small script and waits for its end.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { calculated } from '../../../support/fixtures/structure.ts';
import { type FairnessAccount, type FairnessService, fairnessCase } from '../fairness-case.ts';

const SLEEPERS = 8;
/**
 * Sleeps for only 10 seconds, less than the time limit of a run. After the measurement, the bench waits until the
 * sleeping runs have ended.
 */
const SLEEP = 'Sys.sleep(10)\nlist(TimeSeries = list(Dates = integer(), Values = numeric()))';
const SMALL = 'list(TimeSeries = list(Dates = 1L, Values = 1))';
const POLL_MS = 5;
const SETTLE_MS = 1500;
const MAX_POLLS = 12_000;

export const calculations = fairnessCase({
  resource: 'calculations',
  roles: ['api', 'calculator'],
  prepare: async (service) => {
    const { accountA, accountB, database, http } = service;
    const sleepers = await addCalculated(service, accountA, SLEEP, SLEEPERS);
    const [own = { id: 0, sourceId: 0 }] = await addCalculated(service, accountB, SMALL, 1);
    return {
      load: { http, token: accountA.api.token, sleepers },
      settle: () => waitUntilIdle(service, accountA),
      operation: async () => {
        const { rows } = await database.query<{ id: number }>('select coalesce(max(id), 0) as id from calculation_run');
        await accountB.api.call('POST', `/variables/${own.id}/forceUpdate`);
        await poll(async () => {
          const text = `select from calculation_run where variable_id = $1 and id > $2 and state = 'Succeeded'`;
          return (await database.query(text, [own.id, rows[0]?.id])).rowCount === 1;
        });
      },
    };
  },
  startLoad: async ({ http, token, sleepers }) => {
    const asking = new AbortController();
    const call = (path: string) =>
      fetch(http + path, {
        ...{ method: 'POST', signal: asking.signal },
        headers: { authorization: `Bearer ${token}` },
      });
    for (const { id } of sleepers) await call(`/variables/${id}/forceUpdate`);
    const previews = sleepers.map(({ id, sourceId }) =>
      call(`/sources/${sourceId}/variables/${id}/calculated/evaluate`).catch(() => undefined),
    );
    await wait(SETTLE_MS);
    return async () => {
      asking.abort();
      await Promise.all(previews);
    };
  },
});

async function addCalculated(
  { database }: FairnessService,
  { accountId }: FairnessAccount,
  script: string,
  count: number,
): Promise<readonly { readonly id: number; readonly sourceId: number }[]> {
  const sourceId = await addStoredSource(database, accountId);
  const ids = await addStoredVariables(database, { accountId, sourceId }, { count });
  await database.query('update variable set calculated = $2 where id = any($1::int[])', [ids, calculated(script, [])]);
  return ids.map((id) => ({ id, sourceId }));
}

async function waitUntilIdle({ database }: FairnessService, { accountId }: FairnessAccount): Promise<void> {
  await poll(async () => {
    await database.query('delete from calculation_request where account_id = $1', [accountId]);
    const text = `select from calculation_run where account_id = $1 and state = 'Running'
                  union all select from calculation_preview where account_id = $1`;
    return (await database.query(text, [accountId])).rowCount === 0;
  });
}

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    if (await isDone()) return;
    await wait(POLL_MS);
  }
  throw new Error('the run did not end within a minute');
}
