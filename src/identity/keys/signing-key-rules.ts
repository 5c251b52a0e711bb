/**
 * Rotation of signing keys. A new key is published before it signs, so that verifiers that cache keys can read the key
 * in time. An old key stays published at least until its tokens have expired.
 */
export interface KeyAge {
  readonly kid: string;
  readonly createdMs: number;
}

export interface KeyPolicy {
  /** Age at which the newest key gets a successor. */
  readonly rotateAfterMs: number;
  /** Time for which a key is published before it signs. */
  readonly publishAheadMs: number;
  /** Time for which a key stays published after its successor has begun to sign. */
  readonly keepMs: number;
}

export interface KeyPlan {
  /** Id of the key that signs; undefined when there is no key. */
  readonly signingKid: string | undefined;
  readonly isNewDue: boolean;
  readonly expiredKids: readonly string[];
}

/** Plans the rotation at `nowMs`, which must come from the same clock as `createdMs`. */
export function planSigningKeys(keys: readonly KeyAge[], nowMs: number, policy: KeyPolicy): KeyPlan {
  const newestFirst = [...keys].sort((a, b) => b.createdMs - a.createdMs || (a.kid < b.kid ? -1 : 1));
  const [newest] = newestFirst;
  const age = ({ createdMs }: KeyAge) => nowMs - createdMs;
  // While every key is younger than `publishAheadMs`, the oldest key signs. Right after the first start of the service,
  // the oldest key is the only key.
  const signing = newestFirst.find((key) => age(key) >= policy.publishAheadMs) ?? newestFirst.at(-1);
  const expired = newestFirst.filter((_key, index) => {
    const successor = newestFirst[index - 1];
    return successor !== undefined && age(successor) >= policy.publishAheadMs + policy.keepMs;
  });
  return {
    signingKid: signing?.kid,
    isNewDue: newest === undefined || age(newest) >= policy.rotateAfterMs,
    expiredKids: expired.map(({ kid }) => kid),
  };
}
