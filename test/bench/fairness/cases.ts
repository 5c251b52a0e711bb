/** The cases of the fairness bench, in the order of its table. */
import { calculations } from './cases/calculations.ts';
import { declarations } from './cases/declarations.ts';
import { deliveries } from './cases/deliveries.ts';
import { files } from './cases/files.ts';
import { imports } from './cases/imports.ts';
import { listings } from './cases/listings.ts';
import { mappers } from './cases/mappers.ts';
import { passwords } from './cases/passwords.ts';
import { pushMemory } from './cases/push-memory.ts';
import { readConnections } from './cases/read-connections.ts';
import { requests } from './cases/requests.ts';
import { uploads } from './cases/uploads.ts';
import type { FairnessCase } from './fairness-case.ts';

export const CASES: readonly FairnessCase[] = [
  ...[readConnections, listings, declarations, requests, passwords],
  ...[pushMemory, mappers, uploads, files, imports, calculations, deliveries],
];
