/** The cases of the fairness bench, in the order of its table. */
import { calculations } from './calculations.ts';
import type { FairnessCase } from './fairness-case.ts';
import { mappers } from './mappers.ts';
import { passwords } from './passwords.ts';
import { pushMemory } from './push-memory.ts';
import { readConnections } from './read-connections.ts';
import { requests } from './requests.ts';

export const CASES: readonly FairnessCase[] = [readConnections, pushMemory, requests, passwords, calculations, mappers];
