/**
 * Which of the signing keys signs, when a new one is due, and which are no longer needed. A new key is published for a
 * while before it signs, so that whoever keeps the key set for some minutes knows it by then; an old one stays until no
 * token it signed can still live.
 */
export interface KeyAge {
  readonly kid: string;
  readonly createdMs: number;
}

export interface KeyPolicy {
  /** Age at which the newest key gets a successor. */
  readonly rotateAfterMs: number;
  /** How long a key is published before it signs. */
  readonly publishAheadMs: number;
  /** How long a key stays after its successor has begun to sign. */
  readonly keepMs: number;
}

export interface KeyPlan {
  /** The one to sign with; undefined when there is none. */
  readonly signingKid: string | undefined;
  readonly isNewDue: boolean;
  readonly expiredKids: readonly string[];
}

export function planSigningKeys(keys: readonly KeyAge[], nowMs: number, policy: KeyPolicy): KeyPlan {
  const newestFirst = [...keys].sort((a, b) => b.createdMs - a.createdMs || (a.kid < b.kid ? -1 : 1));
  const [newest] = newestFirst;
  const age = ({ createdMs }: KeyAge) => nowMs - createdMs;
  // Where every key is new, the oldest has been published longest; at the first start it is the only one.
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
