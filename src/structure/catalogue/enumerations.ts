/** Enumerations (R-C8). The API shows the names; the database stores the numbers, which shipped clients know. */

export const GRANULARITY = {
  Raw: 0,
  Minute: 1,
  Hour: 2,
  Day: 3,
  Month: 4,
  Year: 5,
  All: 6,
  Week: 7,
} as const;

export const TIME_PERIOD = {
  Millisecond: 0,
  Second: 1,
  Minute: 2,
  Hour: 3,
  Day: 4,
  Week: 5,
  Month: 6,
  Year: 7,
} as const;

export const AGGREGATE = {
  SUM: 1,
  MIN: 2,
  MAX: 3,
  AVG: 4,
  COUNT: 5,
  VAR: 6,
  STDEV: 7,
} as const;

export const QUANTITY_TYPE = {
  Instantaneous: 1,
  Integrated: 2,
  Cumulative: 3,
  Minimum: 4,
  Maximum: 5,
  Averaged: 6,
} as const;

export const PERIOD_TYPE = {
  RelativeDate: 1,
  AbsoluteDate: 2,
  LastNPoints: 3,
} as const;

export type Granularity = keyof typeof GRANULARITY;
export type TimePeriod = keyof typeof TIME_PERIOD;
export type Aggregate = keyof typeof AGGREGATE;
export type QuantityType = keyof typeof QUANTITY_TYPE;

const DEFAULT_AGGREGATES: Partial<Record<QuantityType, Aggregate>> = {
  Integrated: 'SUM',
  Cumulative: 'MAX',
  Maximum: 'MAX',
  Minimum: 'MIN',
};

/** Returns the default aggregate of a quantity type, for variables without an aggregate of their own (R-C8). */
export function defaultAggregate(quantityType: QuantityType | null): Aggregate {
  return (quantityType && DEFAULT_AGGREGATES[quantityType]) ?? 'AVG';
}

/** Returns the name of a stored number, null for null. @throws Error when the number is not in the enumeration. */
export function nameOf<Name extends string>(
  members: Readonly<Record<Name, number>>,
  number: number | null,
): Name | null {
  if (number === null) return null;
  const entry = Object.entries(members).find(([, value]) => value === number);
  if (!entry) throw new Error(`a stored number must be one of ${JSON.stringify(members)}, got ${number}`);
  return entry[0] as Name;
}
