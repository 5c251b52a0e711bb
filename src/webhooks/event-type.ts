/** The types of events that a webhook can subscribe to (R-I2), and the types for which it may have a filter. */
import type { EventName } from '../platform/database/outbox.ts';

/**
 * Whether a webhook may filter the events of a type by site, source or variable. Events about users and invitations
 * concern none of these.
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

/** WebhookEventType of the API: the union of the names of all events that features append to the outbox. */
export type EventType = keyof typeof IS_FILTERABLE;

/** All event types, in the order of R-I2. */
export const EVENT_TYPES = Object.keys(IS_FILTERABLE) as readonly EventType[];

/** Whether a webhook for events of this type may have a filter (R-I1). */
export function isFilterable(eventType: EventType): boolean {
  return IS_FILTERABLE[eventType];
}
