/**
 * The VersionTag and tags of every reading (R-D3, §9.2): the reading's version wins over the element's; the reading's
 * tags add to the element's and never replace one.
 */
import { type Labels, toLabels } from '../points/label-rules.ts';
import type { PushElement, Reading } from './push-element.ts';

/** What `readings` of `element` are labelled with. Those without labels of their own share one object. */
export function labelReadings({ version, tags, readings }: PushElement): (reading: Reading) => Labels {
  const shared = readings.some(isPlain) ? toLabels(version, tags ?? {}) : undefined;
  return (reading) => {
    if (shared && isPlain(reading)) return shared;
    return toLabels(reading.version ?? version, { ...reading.tags, ...tags });
  };
}

function isPlain(reading: Reading): boolean {
  return reading.version === undefined && reading.tags === undefined;
}
