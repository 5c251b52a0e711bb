/**
 * Memory that uploads use: account A opens 20 uploads, announces 50 MiB for each, sends 10 MiB of each and then stalls.
 * Account B uploads a file of one row.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { openStalledBody } from '../../../support/clients/stalled-body.ts';
import { fairnessCase } from '../fairness-case.ts';
import { oneRow, uploadCsv } from '../upload-csv.ts';

const BODIES = 20;
const ANNOUNCED_BYTES = 50 << 20;
const SENT_BYTES = 10 << 20;
const SETTLE_MS = 2000;

export const uploads = fairnessCase({
  resource: 'uploads',
  roles: ['api'],
  prepare: async ({ accountA, accountB, http }) => ({
    load: { http, token: accountA.api.token },
    operation: async () => {
      await uploadCsv(accountB.api, oneRow(1, 0));
    },
  }),
  startLoad: async ({ http, token }) => {
    const stalled = { url: `${http}/storage?filename=a.csv`, token, type: 'text/csv' };
    const bodies = Array.from({ length: BODIES }, () =>
      openStalledBody({ ...stalled, announcedBytes: ANNOUNCED_BYTES, sentBytes: SENT_BYTES }),
    );
    await wait(SETTLE_MS);
    return async () => {
      for (const body of bodies) body.destroy();
      await wait(SETTLE_MS);
    };
  },
});
