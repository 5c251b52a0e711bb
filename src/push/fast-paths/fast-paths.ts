/**
 * The interface of the fast paths. The fast paths are optional: without them, the ordinary path still stores every push
 * correctly. Only `push-service.ts` imports their code. MEASUREMENTS.md states how much each fast path gains.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FindCachedCaller } from '../../identity/caller/cached-caller.ts';
import type { Log } from '../../platform/log.ts';
import type { Distribution } from '../../platform/metrics/metrics.ts';
import type { Admission } from '../accept/admission.ts';
import type { EncodedOperation } from '../accept/encode-operation.ts';
import type { PushLimits } from '../body/push-element.ts';
import type { PushMetrics } from '../push-metrics.ts';
import type { GroupOutcome, NewOperation, StoreOutcome } from '../store/new-operation.ts';
import type { TargetCache } from '../target-cache.ts';

export interface FastPaths {
  /**
   * Wraps the app: the wrapper accepts small plain pushes whose caller and targets are cached. All other requests, and
   * the pushes that the wrapper cannot accept, go to the app.
   */
  handleSmallPushes(services: SmallPushServices, app: RawHandler): RawHandler;
  /**
   * If `handleSmallPushes` failed to store the push of this request, throws the error of that failure. The app answers
   * with it.
   * @param env the bindings of the request in the app.
   */
  throwFailure(env: unknown): void;
  /** @returns undefined for a push that is not plain; such a push needs its own row of `push_operation`. */
  toPlainPush(push: PlainCandidate): PlainPush | undefined;
  /**
   * Combines plain pushes of one user into one operation. Each push gets the label `memberLabel(label, n)`: `label` is
   * the label of the operation, and n is the position of the push, counted from 0.
   * @param pushes at least one push.
   */
  toSharedOperation(pushes: readonly PlainPush[], nowMillis: number): NewOperation;
  /**
   * Writes a large push of new dates in one transaction. @returns undefined when the push must take the ordinary path.
   */
  tryWrite(submission: DirectSubmission): Promise<StoreOutcome | undefined>;
}

/** A push that may share a row of `push_operation` with other pushes of its user. */
export interface PlainPush {
  readonly userId: string;
  /** Null when the push has no request id of its own: its label is then also its request id. */
  readonly requestId: string | null;
  readonly elements: number;
  readonly readings: number;
  /** COPY tuples, one per reading. */
  readonly tuples: Buffer;
  /** Ids of the variables, as in `NewOperation.variableIds`. */
  readonly variableIds: readonly number[];
}

/** The members of a push that `toPlainPush` reads. */
export interface PlainCandidate
  extends Pick<
    NewOperation,
    | ('userId' | 'timeoutSec' | 'mapperId' | 'acceptedElements' | 'acceptedReadings')
    | ('rejected' | 'warnings' | 'tuples' | 'variableIds')
  > {
  readonly requestId: string | null;
  readonly isLabelOurs: boolean;
}

export interface DirectSubmission {
  readonly accountId: number;
  readonly structureVersion: number | null;
  readonly operation: EncodedOperation;
}

/** Inputs for planning a small push. */
export interface SmallPushParts {
  readonly targets: TargetCache;
  readonly limits: PushLimits;
}

export interface SmallPushServices extends SmallPushParts {
  readonly admission: Admission;
  readonly metrics: PushMetrics;
  readonly findCachedCaller: FindCachedCaller;
  /**
   * Counts a push of a user against the rate limit.
   * @returns false when the push would exceed the limit. The push is then not counted here, and goes to the app, which
   * applies the rate limit itself.
   */
  readonly countPush: (userId: string) => boolean;
  /** Records the duration of an answered request, in seconds. */
  readonly requestSeconds: Distribution;
  readonly log: Log;
  /** Stores a push together with the pushes that arrive at the same time. */
  submit(submission: Omit<SmallPush, 'timeZones'> & { readonly accountId: number }): Promise<GroupOutcome>;
}

export interface SmallPush {
  readonly structureVersion: number | null;
  readonly push: PlainPush;
  /** Zones that were applied to dates without an offset (R-A11). */
  readonly timeZones: readonly string[];
}

export type RawHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
