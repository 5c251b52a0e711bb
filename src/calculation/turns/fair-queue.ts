/**
 * Decides which run or preview gets the next free slot of a calculator: deficit round robin by measured time (R-A14).
 * Pure except for its clock.
 *
 * - Credit: each round credits an account with QUANTUM_MS, but its balance never exceeds QUANTUM_MS. The time of its
 *   runs and previews is debited. An account in debt waits as long as there is another account that has credit and may
 *   take the slot.
 * - Share: half of the slots, rounded up. An account may borrow further slots while no other account needs them for its
 *   own share.
 * - Return: if another account needs a borrowed slot, the borrower's newest run or preview is stopped and repeated
 *   later. The variable of a stopped run gets no borrowed slot for 10 minutes.
 * - Order within an account: previews alternate with runs. While both triggered runs and background runs
 *   (`RequestedRun.isBackground`) wait, nine of every ten runs are taken from the triggered runs.
 */

export const URGENCIES = ['preview', 'triggered', 'background'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** An entry of the queue: a variable to run, or a preview to answer. */
export interface Turn {
  readonly accountId: number;
  readonly urgency: Urgency;
  /** Id of the variable to calculate, or of the preview to execute. */
  readonly id: number;
}

const QUANTUM_MS = 250;
const TRIGGERED_PER_BACKGROUND = 9;
const NO_BORROWING_MS = 600_000;
const MAX_REMEMBERED = 10_000;

interface Account {
  readonly waiting: Readonly<Record<Urgency, Set<number>>>;
  /** Runs and previews of the account that are in progress, the newest last. */
  readonly running: Running[];
  balanceMs: number;
  /**
   * Position of the account's latest turn among all started turns; 0 before its first turn. Among the accounts with
   * credit, the smallest position is served first.
   */
  servedAt: number;
  isPreviewLast: boolean;
  triggeredInRow: number;
}

interface Running {
  readonly turn: Turn;
  /**
   * Instant in ms, on the clock of the queue. The time that this run or preview used before this instant has already
   * been debited from the account.
   */
  debitedMs: number;
  isReturning: boolean;
}

export class FairQueue {
  readonly #slots: number;
  readonly #share: number;
  readonly #nowMs: () => number;
  readonly #accounts = new Map<number, Account>();
  /**
   * Key: id of a variable whose run gave back a borrowed slot. Value: instant, in ms, until which the variable gets no
   * borrowed slot.
   */
  readonly #returned = new Map<number, number>();
  readonly #runningVariables = new Set<number>();
  #used = 0;
  #starts = 0;

  /** @param slots maximum number of concurrent runs and previews. @param nowMs a monotonic clock. */
  constructor(slots: number, nowMs: () => number) {
    this.#slots = slots;
    this.#share = Math.ceil(slots / 2);
    this.#nowMs = nowMs;
  }

  /** Number of accounts that have waiting turns, running turns or a debt. */
  get size(): number {
    return this.#accounts.size;
  }

  /** Adds a turn; a turn that already waits keeps its position. */
  add({ accountId, urgency, id }: Turn): void {
    const account = this.#accounts.get(accountId) ?? openAccount();
    this.#accounts.set(accountId, account);
    account.waiting[urgency].add(id);
  }

  countWaiting(accountId: number, urgency: Urgency): number {
    return this.#accounts.get(accountId)?.waiting[urgency].size ?? 0;
  }

  waiting(): readonly Turn[] {
    return [...this.#accounts].flatMap(([accountId, { waiting }]) =>
      URGENCIES.flatMap((urgency) => [...waiting[urgency]].map((id) => ({ accountId, urgency, id }))),
    );
  }

  /** @returns the turn that starts in a free slot; undefined when no slot is free, or when no turn may start. */
  start(): Turn | undefined {
    if (this.#used >= this.#slots) return undefined;
    this.#debit();
    const turn = this.#startOne(false) ?? this.#startOne(true);
    if (turn && turn.urgency !== 'preview') this.#runningVariables.add(turn.id);
    return turn;
  }

  /** Frees the slot of a turn that has ended. */
  end(turn: Turn): void {
    this.#debit();
    const account = this.#accounts.get(turn.accountId);
    const index = account?.running.findIndex((running) => running.turn === turn) ?? -1;
    if (!account || index < 0) return;
    account.running.splice(index, 1);
    this.#used -= 1;
    if (turn.urgency !== 'preview') this.#runningVariables.delete(turn.id);
    this.#forget();
  }

  /**
   * @returns a run or preview that must give back its borrowed slot; undefined when no run or preview must do so. Each
   *   call returns a different run or preview. The caller must stop the run or preview, and call `end`.
   */
  takeBack(): Turn | undefined {
    if (!this.isSqueezed()) return undefined;
    const borrower = [...this.#accounts.values()]
      .filter((account) => this.#held(account) > this.#share)
      .sort((a, b) => this.#held(b) - this.#held(a))[0];
    const newest = borrower?.running.findLast(({ isReturning }) => !isReturning);
    if (!newest) return undefined;
    newest.isReturning = true;
    if (newest.turn.urgency !== 'preview') this.#forbidBorrowing(newest.turn.id);
    return newest.turn;
  }

  /**
   * @returns true when the free slots and those being given back are together fewer than the accounts that need a slot.
   *   An account needs a slot when it holds less than its share and has a waiting turn that may start.
   */
  isSqueezed(): boolean {
    let needed = 0;
    let returning = 0;
    for (const account of this.#accounts.values()) {
      returning += account.running.filter(({ isReturning }) => isReturning).length;
      if (account.running.length < this.#share && this.#pick(account, false)) needed += 1;
    }
    return needed > this.#slots - this.#used + returning;
  }

  #startOne(isBorrowing: boolean): Turn | undefined {
    const candidates = [...this.#accounts].filter(
      ([, account]) => account.running.length < this.#share !== isBorrowing && this.#pick(account, isBorrowing),
    );
    if (candidates.length === 0) return undefined;
    this.#creditUntilPositive(candidates.map(([, { balanceMs }]) => balanceMs));
    const solvent = candidates.filter(([, { balanceMs }]) => balanceMs > 0);
    const [accountId, account] = solvent.reduce((best, next) => (next[1].servedAt < best[1].servedAt ? next : best));
    const picked = this.#pick(account, isBorrowing);
    if (!picked)
      throw new Error('the fair queue chose an account, but no waiting run or preview of this account can start');
    account.waiting[picked.urgency].delete(picked.id);
    this.#starts += 1;
    account.servedAt = this.#starts;
    account.isPreviewLast = picked.urgency === 'preview';
    if (picked.urgency === 'background') account.triggeredInRow = 0;
    if (picked.urgency === 'triggered') account.triggeredInRow += 1;
    const turn = { accountId, ...picked };
    account.running.push({ turn, debitedMs: this.#nowMs(), isReturning: false });
    this.#used += 1;
    return turn;
  }

  /** Adds rounds of credit to every account until at least one of the given balances is positive. */
  #creditUntilPositive(balances: readonly number[]): void {
    const best = Math.max(...balances);
    if (best > 0) return;
    const rounds = Math.floor(-best / QUANTUM_MS) + 1;
    for (const account of this.#accounts.values()) {
      account.balanceMs = Math.min(account.balanceMs + rounds * QUANTUM_MS, QUANTUM_MS);
    }
    this.#forget();
  }

  /**
   * @returns the next turn of an account. Skips variables that are running. When `isBorrowing`, also skips variables
   * that may not borrow.
   */
  #pick(
    { waiting, isPreviewLast, triggeredInRow }: Account,
    isBorrowing: boolean,
  ): Omit<Turn, 'accountId'> | undefined {
    const isBackgroundDue = triggeredInRow >= TRIGGERED_PER_BACKGROUND;
    const [first, second] = isBackgroundDue
      ? (['background', 'triggered'] as const)
      : (['triggered', 'background'] as const);
    const order: readonly Urgency[] = isPreviewLast ? [first, second, 'preview'] : ['preview', first, second];
    for (const urgency of order) {
      for (const id of waiting[urgency]) {
        if (urgency === 'preview' || (!this.#runningVariables.has(id) && !(isBorrowing && this.#mayNotBorrow(id)))) {
          return { urgency, id };
        }
      }
    }
    return undefined;
  }

  #held({ running }: Account): number {
    return running.filter(({ isReturning }) => !isReturning).length;
  }

  #forbidBorrowing(id: number): void {
    this.#returned.delete(id);
    this.#returned.set(id, this.#nowMs() + NO_BORROWING_MS);
    const [oldest] = this.#returned.keys();
    if (this.#returned.size > MAX_REMEMBERED && oldest !== undefined) this.#returned.delete(oldest);
  }

  #mayNotBorrow(id: number): boolean {
    const untilMs = this.#returned.get(id);
    if (untilMs !== undefined && untilMs <= this.#nowMs()) this.#returned.delete(id);
    return this.#returned.has(id);
  }

  #debit(): void {
    const nowMs = this.#nowMs();
    for (const account of this.#accounts.values()) {
      for (const running of account.running) {
        account.balanceMs -= nowMs - running.debitedMs;
        running.debitedMs = nowMs;
      }
    }
  }

  /** Removes accounts that have neither work nor debt. When no account waits, removes all accounts without work. */
  #forget(): void {
    const isIdle = [...this.#accounts.values()].every((account) => !hasWaiting(account));
    for (const [id, account] of this.#accounts) {
      if (account.running.length > 0 || hasWaiting(account)) continue;
      if (isIdle || account.balanceMs >= 0) this.#accounts.delete(id);
    }
  }
}

function openAccount(): Account {
  const waiting = { preview: new Set<number>(), triggered: new Set<number>(), background: new Set<number>() };
  return { waiting, running: [], balanceMs: QUANTUM_MS, servedAt: 0, isPreviewLast: false, triggeredInRow: 0 };
}

function hasWaiting({ waiting }: Account): boolean {
  return URGENCIES.some((urgency) => waiting[urgency].size > 0);
}
