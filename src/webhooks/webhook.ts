/** A webhook: where an account wants to be told of events of one type (R-I1). */
import type { EventType } from './event-type.ts';

export const HTTP_METHODS = ['POST', 'PUT'] as const;

/** Any match is enough; a list that is absent asks for nothing. Absent altogether: everything in the account. */
export interface WebhookFilter {
  readonly siteIds?: readonly number[];
  readonly sourceIds?: readonly number[];
  readonly variableIds?: readonly number[];
}

/** What a delivery is made of; a test has these before there is a webhook (R-I7). */
export interface WebhookTarget {
  readonly url: string;
  readonly httpMethod: (typeof HTTP_METHODS)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyTemplate: string | null;
  /** `whsec_…`: one, or two while one replaces the other (R-I3). Never part of an answer. */
  readonly secrets: readonly string[];
}

/** The fields a manager writes and reads; the secret apart. */
export interface WebhookFields extends Omit<WebhookTarget, 'secrets'> {
  readonly name: string;
  readonly eventType: EventType;
  readonly isEnabled: boolean;
  readonly filter: WebhookFilter;
}

export interface Webhook extends WebhookFields {
  readonly id: string;
  /** Why the service disabled it. */
  readonly disabledReason: string | null;
  readonly createdDate: string;
  readonly modifiedDate: string;
}

/** A webhook with what became of it. */
export interface StoredWebhook extends Webhook {
  /** The last try of telling it something; null: there was none. */
  readonly lastExecution: { readonly state: string; readonly date: string } | null;
  /** Tries since it was made. */
  readonly successCount: number;
  readonly failureCount: number;
}
