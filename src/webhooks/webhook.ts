/** A webhook subscribes an account to events of one type. The service delivers these events to a receiver (R-I1). */
import type { EventType } from './event-type.ts';

export const HTTP_METHODS = ['POST', 'PUT'] as const;

/**
 * Matches an event that names at least one of the listed sites, sources and variables. A filter without lists matches
 * every event.
 */
export interface WebhookFilter {
  readonly siteIds?: readonly number[];
  readonly sourceIds?: readonly number[];
  readonly variableIds?: readonly number[];
}

/** Fields that a delivery needs. A trial send has these fields too, but needs no stored webhook (R-I7). */
export interface WebhookTarget {
  readonly url: string;
  readonly httpMethod: (typeof HTTP_METHODS)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyTemplate: string | null;
  /** One `whsec_…`, or two after a change while the former secret is still valid (R-I3). */
  readonly secrets: readonly string[];
}

/** The fields a manager writes and reads, without the secret. */
export interface WebhookFields extends Omit<WebhookTarget, 'secrets'> {
  readonly name: string;
  readonly eventType: EventType;
  readonly isEnabled: boolean;
  readonly filter: WebhookFilter;
}

export interface Webhook extends WebhookFields {
  readonly id: string;
  /** Why the service disabled the webhook; null when the service has not disabled it. */
  readonly disabledReason: string | null;
  readonly createdDate: string;
  readonly modifiedDate: string;
}

/** A webhook with its delivery statistics. */
export interface StoredWebhook extends Webhook {
  /** The last attempt; null when there has been none yet. */
  readonly lastExecution: { readonly state: string; readonly date: string } | null;
  /** Number of attempts since the webhook was created, by outcome. */
  readonly successCount: number;
  readonly failureCount: number;
}
