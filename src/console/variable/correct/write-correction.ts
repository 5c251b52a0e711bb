/** Writes a correction as a push and follows its operation to the end. */
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { settings } from '../../session/settings.ts';
import { toInstant } from '../chart-rules.ts';
import type { Edits } from './correction-rules.ts';

type Operation = components['schemas']['Operation'];

export interface Correction {
  readonly variableId: number;
  /** Divider of the variable, by which the service divides pushed values. */
  readonly divider: number | null;
  readonly edits: Edits;
  /** VersionTag of the pushed points; empty when they get none. */
  readonly label: string;
  /** Text pushed as the tag `note`; empty when there is none. */
  readonly note: string;
}

/** The API for pushes and their operations may have a URL of its own. */
const AT_PUSH = { baseUrl: settings.push };
const POLL_MS = 300;
const MAX_POLL_MS = 3000;

/**
 * @param onRunning called with the operation's label each time a poll finds that the operation waits or runs.
 * @returns the operation in its final state.
 * @throws {ApiError} when the push fails, or its operation cannot be read.
 */
export async function writeCorrection(
  { variableId, divider, edits, label, note }: Correction,
  onRunning: (label: string) => void,
): Promise<Operation> {
  const operationId = `console-${randomHex()}`;
  const data = [...edits].map(([seconds, value]) => ({ date: toInstant(seconds), value: value * (divider ?? 1) }));
  const element = {
    variableId,
    data,
    ...(label !== '' && { version: label }),
    ...(note !== '' && { tags: { note } }),
  };
  await bodyOf(api.POST('/api/data', { ...AT_PUSH, params: { query: { operationId } }, body: [element] }));
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(1.5 * pauseMs, MAX_POLL_MS)) {
    const params = { path: { label: operationId } };
    const operation = (await bodyOf(api.GET('/api/operations/{label}', { ...AT_PUSH, params }))) as Operation;
    if (operation.state !== 'Queued' && operation.state !== 'Processing') return operation;
    onRunning(operationId);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** @returns 128 random bits in hexadecimal. Avoids `crypto.randomUUID`: it exists only on TLS or loopback pages. */
function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
