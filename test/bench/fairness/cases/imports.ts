/**
 * Fairness of structure imports. Account A always has three imports waiting or in progress, and each document of A has
 * 50,000 new variables. Account B imports a small document, waits until this import is completed and pushes a reading
 * to a variable of the small document.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createTestClient, type TestClient } from '../../../support/clients/test-client.ts';
import { fairnessCase } from '../fairness-case.ts';

const WAITING = 3;
const ROWS = 50_000;
const POLL_MS = 5;
const SLOW_POLL_MS = 250;
const MAX_POLLS = 12_000;
const SETTLE_MS = 4000;

export const imports = fairnessCase({
  resource: 'imports',
  roles: ['api', 'ingester'],
  operations: 20,
  prepare: async ({ database, accountA, accountB, http }) => {
    let count = 0;
    return {
      load: { http, token: accountA.api.token },
      operation: async () => {
        count += 1;
        const serialNumber = `B-${count}`;
        const id = await sendImport(accountB.api, makeDocument(serialNumber, 20));
        // Polls the database, because polling the API would exceed the rate limit.
        const isCompleted = async () =>
          (await database.query(`select from structure_import where id = $1 and state = 'Completed'`, [id]))
            .rowCount === 1;
        for (let polls = 0; !(await isCompleted()); polls += 1) {
          if (polls > MAX_POLLS) throw new Error('the import of account B did not complete within a minute');
          await wait(POLL_MS);
        }
        const data = [{ date: '2026-01-01T00:00:00Z', value: count }];
        const push = [{ sourceSerialNumber: serialNumber, mappingConfig: 'm-0', data }];
        const answer = await accountB.api.call<{ readonly accepted: { readonly elements: number } }>(
          'POST',
          '/api/data',
          push,
        );
        if (answer.accepted.elements !== 1) throw new Error(`the push was not accepted: ${JSON.stringify(answer)}`);
      },
      settle: async () => {
        await database.query(
          `update structure_import set state = 'Failed' where account_id = $1 and state = 'Queued'`,
          [accountA.accountId],
        );
        const isBusy = async () =>
          (
            await database.query(`select from structure_import where account_id = $1 and state = 'Processing'`, [
              accountA.accountId,
            ])
          ).rowCount !== 0;
        while (await isBusy()) await wait(POLL_MS);
      },
    };
  },
  startLoad: async ({ http, token }, answered) => {
    const client = createTestClient(http, token);
    let isStopped = false;
    let number = 0;
    const repeat = async () => {
      while (!isStopped) {
        number += 1;
        const document = makeDocument(`A-${process.pid}-${number}`, ROWS);
        await sendImport(client, document)
          .then((id) => importEnd(client, id, () => isStopped))
          .catch(() => wait(POLL_MS));
        answered();
      }
    };
    const work = Array.from({ length: WAITING }, repeat);
    await wait(SETTLE_MS);
    return async () => {
      isStopped = true;
      await Promise.all(work);
    };
  },
});

function makeDocument(serialNumber: string, rows: number): string {
  const home = { siteName: 'Plant', sourceSerialNumber: serialNumber };
  return JSON.stringify({
    sites: [{ name: 'Plant' }],
    sources: [{ siteName: 'Plant', serialNumber, name: serialNumber }],
    variables: Array.from({ length: rows }, (_, index) => ({
      ...home,
      mappingConfig: `m-${index}`,
      name: `V ${index}`,
    })),
  });
}

async function sendImport(client: TestClient, raw: string): Promise<string> {
  const { status, body } = await client.send<{ readonly id: string }>('POST', '/structure/import', undefined, { raw });
  if (status !== 202) throw new Error(`POST /structure/import: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** Waits until the import has ended, or the load is stopped. */
async function importEnd(client: TestClient, id: string, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const { body } = await client.get<{ readonly state: string }>(`/structure/import/${id}`);
    if (body.state === 'Completed' || body.state === 'Failed') return;
    await wait(SLOW_POLL_MS);
  }
}
