/** Actions of the audit trail that can be searched for. `Record` requires a text for every action of the API. */
import type { components } from '../../api/openapi.d.ts';
import { en } from '../texts/en.ts';

export type Action = components['schemas']['AuditEntry']['action'];

const TEXTS: Readonly<Record<Action, string>> = en.auditActions;

export const ACTIONS = Object.keys(TEXTS) as Action[];
