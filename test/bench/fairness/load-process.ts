/**
 * The process that generates account A's load. A's clients are on other machines in production; here they share the
 * cores with the service, so they run at the lowest priority and take only processor time that the service and account
 * B do not use. The process receives a `LoadOrder`, starts the load and sends `started`. The next message that it
 * receives, whatever its content, ends the load; the process then sends a `LoadReport`.
 */
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { CASES } from './cases.ts';

export interface LoadOrder {
  readonly resource: string;
  readonly load: unknown;
}

/** What account A and its process did during the measurement. */
export interface LoadReport {
  /** Number of answers that account A got per second. */
  readonly answersPerSec: number;
  /** Average number of processor cores that the load used. */
  readonly cores: number;
}

const send = (message: unknown): unknown => process.send?.(message);
const receive = async <Message>(): Promise<Message> => {
  const [message] = await once(process, 'message');
  return message;
};

// The bench disconnects when it ends.
process.once('disconnect', () => process.exit());
setPriority(constants.priority.PRIORITY_LOW);
const { resource, load } = await receive<LoadOrder>();
const fairnessCase = CASES.find((candidate) => candidate.resource === resource);
if (!fairnessCase) throw new Error(`no case has the resource "${resource}"`);
let answers = 0;
const stop = await fairnessCase.startLoad(load, () => {
  answers += 1;
});
const startMs = performance.now();
const cpu = process.cpuUsage();
answers = 0;
const stopped = receive();
send('started');
await stopped;
const { user, system } = process.cpuUsage(cpu);
const elapsedMs = performance.now() - startMs;
const report: LoadReport = { answersPerSec: (answers / elapsedMs) * 1000, cores: (user + system) / 1000 / elapsedMs };
await stop();
send(report);
process.disconnect();
