/** Fixture of deliveries: a service, its deliverer in this process, and helpers. Receivers on loopback are allowed. */
import { startDelivererRole } from '../../../../src/roles/deliverer-role.ts';
import type { Role } from '../../../../src/roles/parts.ts';
import type { TestClient } from '../../../support/clients/test-client.ts';
import { SECRET } from '../../../support/doubles/webhook-receiver.ts';
import { eventually } from '../../../support/eventually.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

/** Settings that allow receivers on loopback and keep retries short. */
export const LOOPBACK = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  WEBHOOK_TIMEOUT_MS: '1500',
  WEBHOOK_RETRY_SEC: '0.3,0.3',
  SWEEP_INTERVAL_MS: '300',
} as const;

export interface Delivery {
  readonly api: TestApi;
  /**
   * Adds a webhook. Its event type is SiteCreated, unless `members` contains an `eventType`.
   * @param client default: the manager of the account.
   */
  addWebhook(url: string, members?: Readonly<Record<string, unknown>>, client?: TestClient): Promise<string>;
  /** Creates `count` sites. Each of them causes one event. */
  createSites(count: number, client?: TestClient): Promise<void>;
  /**
   * Waits until at least `ended` attempts of the webhook have ended.
   * @returns all attempts of the webhook, oldest first.
   */
  historyOf(webhookId: string, ended: number): Promise<readonly HistoryRow[]>;
  webhook(webhookId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Stops the deliverer and starts another one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface HistoryRow {
  readonly attempt: number;
  readonly state: 'Pending' | 'Succeeded' | 'Failed';
  readonly error: string | null;
  readonly status: number | null;
  readonly eventId: string;
  readonly nextAttemptDate: string | null;
  readonly durationMs: number | null;
}

export async function startDelivery(environment: Readonly<Record<string, string>> = {}): Promise<Delivery> {
  const api = await startTestApi({ ...LOOPBACK, ...environment });
  let deliverer: Role = await startDelivererRole(api.parts);
  return {
    api,
    addWebhook: async (url, members = {}, client = api.manager) => {
      // Relays the earlier events before the webhook exists, so that the webhook does not receive them.
      await api.parts.outbox.relay();
      const webhook = { name: 'hook', url, eventType: 'SiteCreated', secret: SECRET, ...members };
      const { status, body } = await client.post<{ id: string }>('/account/webhooks', webhook);
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body.id;
    },
    createSites: async (count, client = api.manager) => {
      for (let made = 0; made < count; made += 1) await client.post('/sites', { name: 'Mill', timeZoneId: 'UTC' });
      await api.parts.outbox.relay();
    },
    historyOf: (webhookId, ended) =>
      eventually(`${ended} ended attempts`, async () => {
        const rows = await readHistory(api, webhookId);
        return rows.filter(({ state }) => state !== 'Pending').length >= ended && rows;
      }),
    webhook: async (webhookId) => {
      const { rows } = await api.database.query('select * from webhook where id = $1', [webhookId]);
      return rows[0] as Readonly<Record<string, unknown>>;
    },
    restart: async () => {
      await deliverer.stop();
      deliverer = await startDelivererRole(api.parts);
    },
    close: async () => {
      await deliverer.stop();
      await api.close();
    },
  };
}

async function readHistory({ database }: TestApi, webhookId: string): Promise<readonly HistoryRow[]> {
  const { rows } = await database.query<HistoryRow>(
    `select attempt, state, error, (response ->> 'status')::int as status, event_id as "eventId",
            next_attempt_date as "nextAttemptDate", duration_ms as "durationMs"
     from webhook_attempt where webhook_id = $1 order by id`,
    [webhookId],
  );
  return rows;
}
