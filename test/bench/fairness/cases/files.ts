/**
 * Fairness of the processing of files: account A uploads files of 50,000 rows without a pause. Meanwhile, account B
 * uploads a file of one row and waits until its file is processed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createTestClient } from '../../../support/clients/test-client.ts';
import { addStoredSource, addStoredVariables } from '../../../support/fixtures/stored-structure.ts';
import { type FairnessAccount, type FairnessService, fairnessCase } from '../fairness-case.ts';
import { oneRow, uploadCsv } from '../upload-csv.ts';

const UPLOADERS = 4;
const ROWS = 50_000;
const POLL_MS = 2;
const MAX_POLLS = 30_000;
const SETTLE_MS = 2000;

export const files = fairnessCase({
  resource: 'files',
  roles: ['api', 'ingester'],
  prepare: async (service) => {
    const { database, accountA, accountB, http } = service;
    const own = await addVariable(service, accountB);
    let minute = 0;
    return {
      load: { http, token: accountA.api.token, variableId: await addVariable(service, accountA) },
      operation: async () => {
        minute += 1;
        const id = await uploadCsv(accountB.api, oneRow(own, minute));
        const isDone = async () =>
          (await database.query('select from stored_file where id = $1 and completed_date is not null', [id]))
            .rowCount === 1;
        for (let polls = 0; !(await isDone()); polls += 1) {
          if (polls > MAX_POLLS) throw new Error('the file was not processed within a minute');
          await wait(POLL_MS);
        }
      },
      settle: async () => {
        await database.query(`delete from stored_file where account_id = $1 and state = 'Queued'`, [
          accountA.accountId,
        ]);
      },
    };
  },
  startLoad: async ({ http, token, variableId }, answered) => {
    const client = createTestClient(http, token);
    const rows = Array.from({ length: ROWS }, (_, minute) => oneRow(variableId, minute)).join('');
    let isStopped = false;
    const repeat = async () => {
      while (!isStopped) {
        await uploadCsv(client, rows).catch(() => {});
        answered();
      }
    };
    const work = Array.from({ length: UPLOADERS }, repeat);
    await wait(SETTLE_MS);
    return async () => {
      isStopped = true;
      await Promise.all(work);
    };
  },
});

async function addVariable({ database }: FairnessService, { accountId }: FairnessAccount): Promise<number> {
  const sourceId = await addStoredSource(database, accountId);
  const [variableId = 0] = await addStoredVariables(database, { accountId, sourceId });
  return variableId;
}
