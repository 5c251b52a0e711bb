/**
 * Built-in types (R-C8) of sites, sources, variables, energies and energy usages; also the built-in features. Types are
 * suggestions: the type of a resource may be any number, because accounts already use numbers of their own. Shipped
 * clients send site type 1, source type 72, energy type 1, and variable types 0 and 25, so the meaning of these numbers
 * must not change. Never reuse a number.
 */
import type { Aggregate } from './enumerations.ts';

export const SITE_TYPES = {
  Office: 1,
  School: 2,
  Hospital: 3,
  Shop: 4,
  Factory: 5,
  Warehouse: 6,
  Housing: 7,
  Hotel: 8,
  'Sports facility': 9,
  'Public building': 10,
  'Power plant': 11,
  Other: 12,
} as const;

export const SOURCE_TYPES = {
  Sensor: 1,
  'Weather station': 2,
  Boiler: 3,
  'Heat pump': 4,
  'Ventilation unit': 5,
  Battery: 6,
  'Solar inverter': 7,
  'Wind turbine': 8,
  'Charging station': 9,
  'Virtual meter': 10,
  Submeter: 71,
  Meter: 72,
  Other: 73,
} as const;

export const ENERGY_TYPES = {
  Electricity: 1,
  'Natural gas': 2,
  'Heating oil': 3,
  Water: 4,
  Heat: 5,
  Cold: 6,
  Steam: 7,
  Wood: 8,
  'Compressed air': 9,
  Solar: 10,
  Wind: 11,
  Other: 12,
} as const;

export const ENERGY_USAGES = {
  Total: 1,
  Heating: 2,
  Cooling: 3,
  Ventilation: 4,
  Lighting: 5,
  'Hot water': 6,
  Process: 7,
  Computing: 8,
  Vehicles: 9,
  Generation: 10,
  Other: 11,
} as const;

/**
 * Built-in features that a front end may offer a user. For each feature, every account has a level from None to Admin,
 * and so has every user of the account (`accounts/members/features.ts`).
 */
export const FEATURES = {
  Structure: 1,
  Data: 2,
  Files: 3,
  Calculations: 4,
  Webhooks: 5,
  Users: 6,
  Dashboards: 7,
  Reports: 8,
} as const;

export interface VariableType {
  readonly id: number;
  readonly name: string;
  /** Suggested aggregate for variables of this type; each variable has an aggregate of its own. */
  readonly aggregate: Aggregate;
}

const type = (id: number, name: string, aggregate: Aggregate): VariableType => ({ id, name, aggregate });

export const VARIABLE_TYPES: readonly VariableType[] = [
  type(0, 'Consumption', 'SUM'),
  type(1, 'Generation', 'SUM'),
  type(2, 'Injection', 'SUM'),
  type(3, 'Power', 'AVG'),
  type(4, 'Peak power', 'MAX'),
  type(5, 'Reactive energy', 'SUM'),
  type(6, 'Voltage', 'AVG'),
  type(7, 'Current', 'AVG'),
  type(8, 'Power factor', 'AVG'),
  type(9, 'Volume', 'SUM'),
  type(10, 'Flow', 'AVG'),
  type(11, 'Temperature', 'AVG'),
  type(12, 'Humidity', 'AVG'),
  type(13, 'Pressure', 'AVG'),
  type(14, 'Irradiance', 'AVG'),
  type(15, 'Wind speed', 'AVG'),
  type(16, 'Degree days', 'SUM'),
  type(17, 'Carbon dioxide', 'AVG'),
  type(18, 'Occupancy', 'AVG'),
  type(19, 'Emissions', 'SUM'),
  type(20, 'Cost', 'SUM'),
  type(21, 'Price', 'AVG'),
  type(22, 'Forecast', 'AVG'),
  type(23, 'Budget', 'SUM'),
  type(24, 'State', 'MAX'),
  type(25, 'Index', 'MAX'),
  type(26, 'Other', 'AVG'),
];
