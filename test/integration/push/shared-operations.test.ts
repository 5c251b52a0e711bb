/**
 * Plain pushes (plain-push.ts) of one user that are stored together share a row of push_operation. The service gives
 * each push its own label (R-D7).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeTuples } from '../../../src/points/copy-codec.ts';
import { openGroupCommit } from '../../../src/push/accept/group-commit.ts';
import { toSharedOperation } from '../../../src/push/fast-paths/plain-push.ts';
import type { GroupOutcome } from '../../../src/push/store/new-operation.ts';
import { memberLabel, readMemberLabel } from '../../../src/push/store/operation-label.ts';
import { announceLateOperations } from '../../../src/push/store/operation-upkeep.ts';
import type { TestClient } from '../../support/clients/test-client.ts';
import { ingestNotingFailures } from '../../support/fixtures/failed-batches.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

const START = Date.UTC(2026, 0, 1) * 1000;

interface Operation {
  readonly id: number;
  readonly operationId: string;
  readonly state: string;
  readonly accepted: { readonly elements: number; readonly readings: number };
  readonly acceptedDate: string;
  readonly completedDate?: string;
  readonly failure?: string;
}

let api: TestApi;
let variableId: number;
let userId: string;
beforeAll(async () => {
  api = await startTestApi();
  ({ variableId } = await createStructure(api.manager, { isVersioned: true }));
  const { rows } = await api.database.query<{ id: string }>(`select id from app_user where user_name = 'max'`);
  userId = rows[0]?.id ?? '';
});
afterAll(() => api.close());

let seconds = 0;
const tuplesOf = (count: number): Buffer =>
  encodeTuples(
    Array.from({ length: count }, () => {
      seconds += 1;
      return { variableId, dateMicros: START + seconds * 1e6, value: seconds, versionTagId: 0, tagSetId: 0 };
    }),
  );

/**
 * Stores several pushes together.
 * @param counts the number of readings of each push.
 * @param breaks index of a push to which the function gives invalid data.
 * @returns for each push: the label if the push is stored, otherwise the kind of the outcome.
 */
async function storeTogether(counts: readonly number[], breaks?: number): Promise<readonly string[]> {
  const group = openGroupCommit(api.database, toSharedOperation);
  const outcomes: GroupOutcome[] = await Promise.all(
    counts.map((readings, position) => {
      const tuples = tuplesOf(readings);
      if (position === breaks) tuples[1] = 9;
      const requestId = position === 1 ? 'given' : null;
      const push = { userId, requestId, elements: 1, readings, tuples, variableIds: [variableId] };
      return group.submit({ accountId: api.accountId, structureVersion: null, push });
    }),
  );
  return outcomes.map((outcome) => (outcome.kind === 'stored' ? outcome.label : outcome.kind));
}

const find = (label: string, client: TestClient = api.manager) => client.get<Operation>(`/api/operations/${label}`);
const states = (labels: readonly string[]) => Promise.all(labels.map(async (label) => (await find(label)).body.state));
const rowsUnder = async (labels: readonly string[]) => {
  const { rows } = await api.database.query<{ label: string; request: string; members: string[] | null }>(
    `select label, request_id as request, member_request_ids as members from push_operation
     where label = any($1::text[]) order by id`,
    [labels],
  );
  return rows;
};

/**
 * Reads the operations with these labels from the DataPushCompleted events.
 * @returns the operations as subscribers receive them, in the order of the events.
 */
async function announced(labels: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await api.database.query<{ events: Record<string, unknown> }>(
    `select events from outbox_event, expand_push_operations(payload -> 'operations') events
     where type = 'DataPushCompleted' and events ->> 'operationId' = any($1::text[]) order by id`,
    [labels],
  );
  return rows.map(({ events }) => events);
}

describe('push: plain pushes that share a row of push_operation', () => {
  it('are found under their own labels with their own counts (R-D7)', async () => {
    const labels = await storeTogether([1, 2, 3]);
    expect(new Set(labels).size).toBe(3);
    expect(await rowsUnder(labels)).toEqual([{ label: labels[0], request: labels[0], members: [null, 'given', null] }]);
    for (const [position, label] of labels.entries()) {
      const { id, acceptedDate, ...operation } = (await find(label)).body;
      expect(operation).toEqual({
        ...{ operationId: label, userId, state: 'Queued', accepted: { elements: 1, readings: position + 1 } },
        ...{ rejected: [], warnings: [] },
      });
      expect(Date.parse(acceptedDate)).toBeLessThanOrEqual(Date.now());
    }
    const all = await api.manager.get<Operation[]>(`/api/operations/${labels[2]}?all=true`);
    expect(all.body).toMatchObject([{ operationId: labels[2], accepted: { readings: 3 } }]);
    await api.ingest();
    expect(await states(labels)).toEqual(['Completed', 'Completed', 'Completed']);
    expect((await find(labels[1] ?? '')).body.completedDate).toBeDefined();
    expect((await api.manager.get(`/api/operations/${labels[1]}/rejected`)).body).toEqual([]);
  });

  it('are found only under their exact labels, and are hidden from another account and from a USER who did not send them (R-D7)', async () => {
    const labels = await storeTogether([1, 1]);
    const user = await api.signIn('uma', 'USER');
    for (const label of labels) {
      expect((await find(label, user)).status).toBe(404);
      expect((await find(label, api.stranger)).status).toBe(404);
    }
    expect((await find(memberLabel(labels[0] ?? '', 2))).status).toBe(404);
    expect((await find((labels[0] ?? '').toUpperCase())).status).toBe(404);
  });

  it('the label of a push identifies the shared row and the position of the push in this row, from 0 to 65,535 (R-D7)', () => {
    const shared = '0199c0de-0000-7abc-8def-0123456789ab'.replace(/.{4}$/, '0000');
    expect([0, 1, 255, 65_535].map((position) => readMemberLabel(memberLabel(shared, position)))).toEqual(
      [0, 1, 255, 65_535].map((position) => ({ shared, position })),
    );
    expect(readMemberLabel('import-1')).toBeUndefined();
  });

  it('each push is announced when it ends, and also at its time-out if it still runs (R-D7, R-I8)', async () => {
    await api.ingest();
    const [late, ended] = [await storeTogether([1, 2]), await storeTogether([3, 4])];
    await api.database.query(`update push_operation set deadline = now() where label = $1`, [late[0]]);
    await api.database.query(
      `update push_batch set deadline = now() where operation_ids && array(select id from push_operation where label = $1)`,
      [late[0]],
    );
    await announceLateOperations(api.database);
    expect(await announced(late)).toMatchObject(
      [1, 2].map((readings) => ({ state: 'Queued', accepted: { readings } })),
    );
    expect(await announced(ended)).toEqual([]);
    await api.ingest();
    expect((await announced(late)).map(({ state }) => state)).toEqual(['Queued', 'Queued', 'Completed', 'Completed']);
    const events = await announced(ended);
    expect(events.map(({ operationId }) => operationId)).toEqual(ended);
    expect(events).toMatchObject(
      [3, 4].map((readings) => ({ userId, state: 'Completed', accepted: { elements: 1, readings }, rejected: 0 })),
    );
    expect(events[0]).not.toHaveProperty('members');
  });

  it('when the pushes cannot be written together, only the faulty push is set aside (R-D1, R-K3)', async () => {
    await api.ingest();
    const labels = await storeTogether([1, 2, 3, 1], 1);
    await ingestNotingFailures(api.database, api.accountId, 14);
    expect(await states(labels)).toEqual(['Completed', 'Failed', 'Completed', 'Completed']);
    const counts = await Promise.all(labels.map(async (label) => (await find(label)).body.accepted.readings));
    expect(counts).toEqual([1, 2, 3, 1]);
    expect((await rowsUnder(labels)).map(({ request }) => request)).toEqual([labels[0], 'given', labels[2], labels[3]]);
    expect(await announced(labels)).toHaveLength(4);
    const { rows } = await api.database.query('delete from push_batch where set_aside_date is not null returning rows');
    expect(rows.map(({ rows: bytes }) => bytes.length)).toEqual([2 * 62]);
  });

  it('have unique labels, even when two users push at the same time and some pushes have a label from the client (R-D7)', async () => {
    const other = await api.signIn('otis', 'MANAGER');
    const body = () => [
      { variableId, data: [{ date: new Date((START + ++seconds * 1e6) / 1000).toISOString(), value: 1 }] },
    ];
    const pushes = [api.manager, other, api.manager, other].flatMap((client, index) => [
      client.post<Operation>('/api/data', body()),
      client.post<Operation>(`/api/data?operationId=own-${index}`, body()),
    ]);
    const labels = (await Promise.all(pushes)).map((answer) => answer.body.operationId);
    for (const [index, label] of labels.entries()) {
      const { body: found } = await find(label);
      expect(found).toMatchObject({ operationId: label, accepted: { readings: 1 } });
      if (index % 2 === 1) expect(label).toBe(`own-${(index - 1) / 2}`);
    }
    expect(new Set(labels).size).toBe(8);
  });
});
