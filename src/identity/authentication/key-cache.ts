/** Cache of one issuer's keys; it reloads them after 10 minutes, or when a token names an unknown key (R-B1). */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import { ISSUER_ADVICE, type KeySource, readKeys } from './trusted-issuers.ts';

const MAX_AGE_MS = 600_000;
/** Minimum milliseconds between two reloads of cached keys. It protects the issuer from a flood of unknown key ids. */
const MIN_REREAD_MS = 1000;

type GetKey = ReturnType<typeof createLocalJWKSet>;

export class KeyCache {
  readonly #source: KeySource;
  readonly #fetch: typeof fetch;
  readonly #clock: Clock;
  #keys: GetKey | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<GetKey> | undefined;

  constructor(source: KeySource, fetchKeys: typeof fetch, clock: Clock) {
    this.#source = source;
    this.#fetch = fetchKeys;
    this.#clock = clock;
  }

  /**
   * Finds the key a token was signed with.
   * @throws {DomainError} dependency_unavailable when no keys are cached and none can be read.
   * @throws {errors.JOSEError} when the issuer has no such key.
   */
  readonly getKey: JWTVerifyGetKey = async (header, token) => {
    const isOld = this.#clock.nowMillis() - this.#readAtMs >= MAX_AGE_MS;
    const keys = this.#keys && !(isOld && this.#mayRead()) ? this.#keys : await this.#readOrKeep();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayRead()) throw error;
      return (await this.#readOrKeep())(header, token);
    }
  };

  #mayRead(): boolean {
    return this.#clock.nowMillis() - this.#triedAtMs >= MIN_REREAD_MS;
  }

  /** Reloads the keys; while they cannot be read, cached keys stay in use. */
  async #readOrKeep(): Promise<GetKey> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    try {
      return await this.#reading;
    } catch (error) {
      if (this.#keys) return this.#keys;
      const failure = new DomainError(
        'dependency_unavailable',
        `the keys of the token issuer cannot be read; ${ISSUER_ADVICE}`,
      );
      const place = this.#source.kind === 'http' ? `at ${this.#source.jwksUri}` : 'in the database';
      failure.cause = new Error(`cannot read the signing keys ${place}`, { cause: error });
      throw failure;
    }
  }

  async #read(): Promise<GetKey> {
    this.#triedAtMs = this.#clock.nowMillis();
    this.#keys = createLocalJWKSet(await readKeys(this.#source, this.#fetch));
    this.#readAtMs = this.#clock.nowMillis();
    return this.#keys;
  }
}
