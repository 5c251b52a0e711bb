/** What receivers are told, for the description (R-A9, R-I2, R-I3). */
import type { SentEvent } from '../platform/openapi/operation.ts';
import { EVENT_TYPES } from './event-type-rules.ts';
import { SAMPLE_DATA } from './trial-sends/sample-data-rules.ts';

export const SENT_EVENTS: readonly SentEvent[] = EVENT_TYPES.map((type) => ({ type, data: SAMPLE_DATA[type] }));
