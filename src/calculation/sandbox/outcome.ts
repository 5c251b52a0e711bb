/**
 * Decides how a run ended. The first of these that applies wins: a fault of the sandbox, a limit, a signal that killed
 * the run, the runner's own report (ok, script error, limit seen from inside). Pure. Messages are for the script's
 * author (R-H7).
 */
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { FailureStatus, ResultFrame } from './frame.ts';
import type { LimitName, Notes, RunLimits, RunTiming, SandboxOutcome, ScriptFile } from './sandbox-types.ts';
import { type Answer, maxResultBytes, type Trailer } from './wire.ts';

/** Matches what R prints when it has run out of memory and cannot report that as an R error. */
const MEMORY_WORDS = /cannot allocate|memory exhausted|bad_alloc/i;

interface Ending {
  readonly notes: Notes;
  readonly timing: RunTiming;
  /** Line that R reported, otherwise the line of the last top-level expression reached; null when unknown. */
  readonly line: number | null;
}

export interface DecidedLimits extends RunLimits {
  /**
   * False when the run has already executed other scripts. In this case, messages about time limits refer to all
   * scripts of the run together. Default: true.
   */
  readonly isFirst?: boolean;
}

/**
 * Decides how a run ended, from the bytes received and the limits (R-H7).
 * @param frame the decoded result; null when there is no readable result.
 * @param elapsedMs milliseconds from the call to the end of the answer, for `timing.waitMs`.
 * @param isAlone true when no other run was under way, or had just failed, at the end of the answer.
 */
export function decideOutcome(
  answer: Answer,
  frame: ResultFrame | null,
  limits: DecidedLimits,
  elapsedMs: number,
  isAlone: boolean,
): SandboxOutcome {
  const { trailer } = answer;
  const timing = timingOf(trailer, elapsedMs);
  if (trailer === null) {
    const message = 'the sandbox ended or did not answer during the run';
    return { kind: 'fault', cause: isAlone ? 'run' : 'sandbox', message, timing };
  }
  if (trailer.end === 'setup_failed')
    return { kind: 'fault', cause: 'sandbox', message: setupMessage(trailer), timing };
  const line = (frame && 'line' in frame ? frame.line : null) ?? trailer.line;
  const ending = { notes: notesOf(answer, trailer, frame), timing, line };
  if (trailer.limit !== null) return limitOutcome(trailer.limit, limits, ending);
  if (trailer.end === 'signalled') return killedOutcome(trailer.code, ending);
  if (frame === null) return unreportedOutcome(answer, trailer, limits, ending);
  return reportedOutcome(frame, limits, ending);
}

function reportedOutcome(frame: ResultFrame, limits: DecidedLimits, ending: Ending): SandboxOutcome {
  if (frame.status === 'ok') return okOutcome(frame, limits, ending);
  if (frame.status !== 'script_error') return limitOutcome(frame.status, limits, ending, frame.message);
  const { message, call, errors, line } = frame;
  return { kind: 'script_error', message, call, errors, ...filesOf(frame), ...ending, line };
}

/** Checks the number of points of a successful result again, because a script can forge a frame. */
function okOutcome(
  frame: Extract<ResultFrame, { status: 'ok' }>,
  limits: DecidedLimits,
  ending: Ending,
): SandboxOutcome {
  const { notes, timing } = ending;
  const { dates, values, versions, tags } = frame.series;
  const points = Math.max(dates.length, values.length, versions?.codes.length ?? 0, tags?.codes.length ?? 0);
  if (points > limits.maxPoints) return limitOutcome('output_size', limits, ending);
  return { kind: 'ok', series: frame.series, errors: frame.errors, ...filesOf(frame), notes, timing };
}

function filesOf({ files }: ResultFrame): { readonly files?: readonly ScriptFile[] } {
  return files.length > 0 ? { files } : {};
}

/**
 * Describes a run that ended without a readable result. The cause is quit(), a crash of a package, too little
 * memory, or bytes that the script wrote into the result.
 */
function unreportedOutcome(answer: Answer, trailer: Trailer, limits: DecidedLimits, ending: Ending): SandboxOutcome {
  if (trailer.code !== 0 && MEMORY_WORDS.test(answer.output)) return limitOutcome('memory', limits, ending);
  const message =
    answer.result.length > 0
      ? 'the result of the script could not be read, probably because the script wrote to the file descriptor of the result'
      : `R ended without a result, because of quit() or a crash; exit code ${trailer.code}`;
  return { kind: 'script_error', message, call: '', errors: [], ...ending };
}

function killedOutcome(number: number, ending: Ending): SandboxOutcome {
  const signal = signalName(number);
  const why = signal === 'SIGKILL' ? 'the machine or the container ran out of memory' : 'R or a package crashed';
  return { kind: 'killed', signal, message: `the script was ended by ${signal}, probably because ${why}`, ...ending };
}

function limitOutcome(
  limit: LimitName | Exclude<FailureStatus, 'script_error'>,
  limits: DecidedLimits,
  ending: Ending,
  detail?: string,
): SandboxOutcome {
  const text = limitMessage(limit, limits);
  return { kind: 'limit', limit, message: detail ? `${text} (${detail})` : text, ...ending };
}

function limitMessage(limit: LimitName, limits: DecidedLimits): string {
  const [scripts, together] =
    limits.isFirst === false ? ["the scripts of the run's formulas", ' in total'] : ['the script', ''];
  switch (limit) {
    case 'wall_time':
      return `${scripts} ran longer than ${limits.wallTimeMs / 1000} s${together}`;
    case 'cpu_time':
      return `${scripts} used more than ${limits.cpuTimeSec} s of processor time${together}`;
    case 'memory':
      return `the script needed more than ${bytesText(limits.memoryBytes)} of memory`;
    case 'output_size':
      return (
        `the script returned more than ${limits.maxPoints.toLocaleString('en')} points ` +
        `or a result larger than ${bytesText(maxResultBytes(limits.maxPoints))}`
      );
    case 'processes':
      return `the script had more than ${limits.maxProcesses} processes and threads at the same time`;
  }
}

function bytesText(bytes: number): string {
  return bytes >= 2 ** 30 ? `${+(bytes / 2 ** 30).toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

function setupMessage(trailer: Trailer): string {
  const reason = trailer.errno > 0 ? getSystemErrorName(-trailer.errno) : 'unknown error';
  return `the sandbox of a run could not be set up; the step that failed is ${trailer.stage} (${reason})`;
}

function notesOf(answer: Answer, trailer: Trailer, frame: ResultFrame | null): Notes {
  const left = trailer.textBytes - answer.outputBytes;
  const cut = left > 0 ? `\n… ${left} more bytes were not kept` : '';
  return {
    messages: frame?.messages ?? [],
    warnings: frame?.warnings ?? [],
    output: answer.output + cut,
  };
}

function timingOf(trailer: Trailer | null, elapsedMs: number): RunTiming {
  const runMs = trailer?.wallMs ?? 0;
  return {
    waitMs: Math.max(0, elapsedMs - runMs),
    runMs,
    cpuMs: trailer?.cpuMs ?? 0,
    maxRssBytes: trailer?.maxRssBytes ?? 0,
  };
}

function signalName(number: number): string {
  const entry = Object.entries(constants.signals).find(([, value]) => value === number);
  return entry?.[0] ?? `signal ${number}`;
}
