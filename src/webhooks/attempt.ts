/**
 * TypeScript types for a message to a receiver and for a delivery attempt. The delivery history (R-I5) and the result
 * of a trial send (R-I7) return the request and the response of an attempt as `SentRequest` and `ReceivedResponse`.
 */

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request, at most its first 65,536 characters. */
  readonly body: string;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the response, at most its first 4 KiB. */
  readonly body: string;
}

/** Outcome of an attempt, with a response, an error or both. */
export interface AttemptOutcome {
  readonly state: 'Succeeded' | 'Failed';
  readonly request: SentRequest;
  readonly response?: ReceivedResponse;
  /** Tells a manager why the attempt failed. The text reveals nothing about the internal network. */
  readonly error?: string;
  readonly durationMs: number;
}

/** A message to the receiver of a webhook. */
export interface Message {
  /** Value of the header `webhook-id`. */
  readonly id: string;
  readonly type: string;
  /** Instant of the event, as ISO 8601. */
  readonly timestamp: string;
  readonly accountId: number;
  readonly data: unknown;
}
