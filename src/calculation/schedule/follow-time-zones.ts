/** Moves the schedules of a site or source to its new time zone when that changes (R-H5). */
import type { Transaction } from '../../platform/database/database.ts';
import type { OutboxEvent } from '../../platform/database/outbox.ts';

// A schedule that is due stays due.
const FORGET_NEXT = `
  update calculation_schedule set next_date = null, after_date = now()
  from variable join source on source.id = variable.source_id
  where variable.id = calculation_schedule.variable_id and calculation_schedule.time_zone_id is null
    and calculation_schedule.next_date > now()
    and (source.id = any($1::int[]) or source.site_id = any($2::int[]))`;

export async function followTimeZones(transaction: Transaction, events: readonly OutboxEvent[]): Promise<void> {
  const idsOf = (type: string) => events.flatMap((event) => (event.type === type ? readId(event.payload) : []));
  const [sources, sites] = [idsOf('SourceUpdated'), idsOf('SiteUpdated')];
  if (sources.length + sites.length > 0) await transaction.query(FORGET_NEXT, [sources, sites]);
}

function readId(payload: unknown): number[] {
  const { id } = payload as { readonly id?: unknown };
  return typeof id === 'number' ? [id] : [];
}
