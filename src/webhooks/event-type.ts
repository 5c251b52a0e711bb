/** The types of events that a webhook can subscribe to (R-I2), and the types for which it may have a filter. */
import type { EventName } from '../platform/database/outbox.ts';

/**
 * For each type of event, whether a webhook may filter the events by site, source or variable. For an event about a
 * push or a file, the filter checks the variables of the event's points. An event about a user or an invitation
 * concerns no site, source or variable.
 */
const IS_FILTERABLE = {
  DataPushCompleted: true,
  FileIngested: true,
  DataPointsWritten: true,
  CalculationCompleted: true,
  CalculationFailed: true,
  CalculationForceUpdate: true,
  SiteCreated: true,
  SiteUpdated: true,
  SiteDeleted: true,
  SourceCreated: true,
  SourceUpdated: true,
  SourceDeleted: true,
  VariableCreated: true,
  VariableUpdated: true,
  VariableDeleted: true,
  UserCreated: false,
  UserLocked: false,
  InvitationAccepted: false,
} as const satisfies Readonly<Record<EventName, boolean>>;

/** WebhookEventType of the API: the name of any event that a feature appends to the outbox. */
export type EventType = keyof typeof IS_FILTERABLE;

/** All event types, in the order of R-I2. */
export const EVENT_TYPES = Object.keys(IS_FILTERABLE) as readonly EventType[];

/** Whether a webhook for events of this type may have a filter (R-I1). */
export function isFilterable(eventType: EventType): boolean {
  return IS_FILTERABLE[eventType];
}
