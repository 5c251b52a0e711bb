/**
 * Example data of each event type, shown in the API description (R-I2). A trial send whose request has no `data` sends
 * this example data (R-I7).
 */
import type { EventType } from '../event-type.ts';

const SITE = { id: 12, name: 'Mill' };
const SOURCE = { id: 340, name: 'Main meter', siteId: 12 };
const VARIABLE = { id: 5601, name: 'Active energy', sourceId: 340, siteId: 12 };
const USER_ID = '7d2c4b0e-5a55-4a0e-9a4e-3f0c1f6f7c21';
const PLACE = { siteId: 12, sourceId: 340, variableId: 5601 };
const RUN = { ...PLACE, runId: 78_901, trigger: 'Input', from: '2026-03-01T00:00:00Z', to: '2026-03-01T01:00:00Z' };

/** Member `data` of a sample message, by event type. */
export const SAMPLE_DATA: Readonly<Record<EventType, Readonly<Record<string, unknown>>>> = {
  DataPushCompleted: {
    operationId: 'morning-import',
    userId: USER_ID,
    state: 'Completed',
    accepted: { elements: 1, readings: 4 },
    rejected: 0,
    acceptedDate: '2026-03-01T00:15:02.412345Z',
    completedDate: '2026-03-01T00:15:02.530112Z',
  },
  FileIngested: {
    fileId: '3f0a7c52-1f0b-4d7e-8a2f-0d9b64c1e7aa',
    filename: 'readings.csv',
    userId: USER_ID,
    state: 'Completed',
    counts: { rows: 96, ingested: 96, rejected: 0, warnings: 0 },
  },
  DataPointsWritten: {
    variables: [{ ...PLACE, from: '2026-03-01T00:00:00Z', to: '2026-03-01T00:45:00Z', count: 4 }],
  },
  CalculationCompleted: { ...RUN, outcome: 'ok', message: null },
  CalculationFailed: { ...RUN, outcome: 'script_error', message: 'object "consumption" not found' },
  CalculationForceUpdate: {
    variableId: 5601,
    from: '2026-03-01T00:00:00Z',
    to: '2026-03-02T00:00:00Z',
    variables: [PLACE],
  },
  SiteCreated: SITE,
  SiteUpdated: SITE,
  SiteDeleted: SITE,
  SourceCreated: SOURCE,
  SourceUpdated: SOURCE,
  SourceDeleted: SOURCE,
  VariableCreated: VARIABLE,
  VariableUpdated: VARIABLE,
  VariableDeleted: VARIABLE,
  UserCreated: {
    id: USER_ID,
    userName: 'ines@north.example',
    email: 'ines@north.example',
    firstName: 'Ines',
    lastName: 'Keller',
  },
  UserLocked: { id: USER_ID, userName: 'ines@north.example', until: null, reason: 'left the company' },
  InvitationAccepted: {
    id: '9b4c1c8e-7f54-4c1a-a3f7-2f6a0a4f5d10',
    userId: USER_ID,
    userName: 'ines@north.example',
    email: 'ines@north.example',
  },
};
