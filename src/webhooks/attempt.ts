/** One try of telling a receiver, as the history and a test show it (R-I5, R-I7). */

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KiB. */
  readonly body: string;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 4 KiB. */
  readonly body: string;
}

/** How a try ended. There is a response, an error, or both. */
export interface AttemptOutcome {
  readonly state: 'Succeeded' | 'Failed';
  readonly request: SentRequest;
  readonly response?: ReceivedResponse;
  /** Why it failed, for a manager to understand; names no address inside the service's network. */
  readonly error?: string;
  readonly durationMs: number;
}

/** What is told. */
export interface Message {
  /** The header webhook-id. */
  readonly id: string;
  readonly type: string;
  /** Instant of the event, ISO 8601. */
  readonly timestamp: string;
  readonly accountId: number;
  readonly data: unknown;
}
