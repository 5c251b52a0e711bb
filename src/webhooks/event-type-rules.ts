/** The events an account can be told of (R-I2), and which of them happen at a place a filter can name. */
import type { EventType } from '../platform/database/outbox.ts';

/** What happens at a site, source or variable carries its number; the others are about users, or about many places. */
const HAPPENS_AT_A_PLACE: Readonly<Record<EventType, boolean>> = {
  DataPushCompleted: false,
  FileIngested: false,
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
};

/** WebhookEventType, in the order of R-I2. */
export const EVENT_TYPES = Object.keys(HAPPENS_AT_A_PLACE) as readonly EventType[];

/** Whether a webhook for such events may have a filter. */
export function happensAtAPlace(eventType: EventType): boolean {
  return HAPPENS_AT_A_PLACE[eventType];
}
