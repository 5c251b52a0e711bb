/** Webhooks for tests, made through the public interface. */
import type { TestClient } from './clients/test-client.ts';

/** A webhook as a client sees it. */
export interface SeenWebhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly eventType: string;
  readonly isEnabled: boolean;
  readonly httpMethod: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly filter: Readonly<Record<string, readonly number[]>>;
  readonly bodyTemplate: string | null;
  readonly disabledReason: string | null;
  readonly createdDate: string;
  readonly modifiedDate: string;
  readonly secret?: string;
}

/** The least a webhook needs. */
export const WEBHOOK = {
  name: 'To the ledger',
  url: 'https://receiver.example/hooks/1?key=abc',
  eventType: 'DataPointsWritten',
} as const;

/** @throws Error unless it was made. */
export async function createWebhook(client: TestClient, members: object = {}): Promise<SeenWebhook> {
  const { status, body } = await client.post<SeenWebhook>('/account/webhooks', { ...WEBHOOK, ...members });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** A secret of so many bytes. */
export function secretOf(bytes: number, fill = 7): string {
  return `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`;
}
