import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_TYPES } from '../../../src/structure/catalogue/list-types.ts';
import { scaleBetween } from '../../../src/structure/catalogue/unit-rules.ts';

const UNITS = {
  kWh: { divisor: 1, offset: 0 },
  MWh: { divisor: 1e-3, offset: 0 },
  GWh: { divisor: 1e-6, offset: 0 },
  '°C': { divisor: 1, offset: 0 },
  K: { divisor: 1, offset: 273.15 },
  '°F': { divisor: 1.8, offset: 32 },
};

const convert = (value: number, from: typeof UNITS.kWh, to: typeof UNITS.kWh) => {
  const { factor, divisor, shift } = scaleBetween(from, to);
  return (value * factor) / divisor + shift;
};

describe('structure: conversion between units (R-C8)', () => {
  test.each([
    [1, 'kWh', 0.001, 'MWh'],
    [2, 'GWh', 2000, 'MWh'],
    [100, '°C', 373.15, 'K'],
    [212, '°F', 100, '°C'],
    [-40, '°C', -40, '°F'],
    [0, 'K', -459.67, '°F'],
  ] as const)('%d %s is %d %s (R-C8)', (value, from, expected, to) => {
    expect(convert(value, UNITS[from], UNITS[to])).toBeCloseTo(expected, 10);
  });

  test('a conversion by a power of ten gives the exact decimal', () => {
    expect(scaleBetween(UNITS.MWh, UNITS.GWh)).toEqual({ factor: 1, divisor: 1000, shift: 0 });
    expect(scaleBetween(UNITS.GWh, UNITS.MWh)).toEqual({ factor: 1000, divisor: 1, shift: 0 });
    for (let value = 1; value < 1000; value++) expect(convert(value, UNITS.MWh, UNITS.GWh)).toBe(Number(`${value}e-3`));
  });

  test('a conversion there and back gives the original value, and a conversion through a third unit gives the direct result, to six decimals', () => {
    const unit = fc.record({
      divisor: fc.double({ min: 0.5, max: 2, noNaN: true }),
      offset: fc.double({ min: -1000, max: 1000, noNaN: true }),
    });
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(unit, unit, unit, value, (a, b, c, given) => {
        expect(convert(convert(given, a, b), b, a)).toBeCloseTo(given, 6);
        expect(convert(convert(given, a, b), b, c)).toBeCloseTo(convert(given, a, c), 6);
      }),
    );
  });
});

describe('catalogues: built-in types', () => {
  test('keep their ids and names, because resources store the ids (R-C8)', () => {
    const ids = Object.entries(BUILT_IN_TYPES).map(([catalogue, entries]) => [
      catalogue,
      entries.map(({ id, name }) => `${id} ${name}`),
    ]);
    // Add new entries to the snapshot, but never change an id or a name in it.
    expect(Object.fromEntries(ids)).toMatchInlineSnapshot(`
      {
        "EnergyType": [
          "1 Electricity",
          "2 Natural gas",
          "3 Heating oil",
          "4 Water",
          "5 Heat",
          "6 Cold",
          "7 Steam",
          "8 Wood",
          "9 Compressed air",
          "10 Solar",
          "11 Wind",
          "12 Other",
        ],
        "EnergyUsage": [
          "1 Total",
          "2 Heating",
          "3 Cooling",
          "4 Ventilation",
          "5 Lighting",
          "6 Hot water",
          "7 Process",
          "8 Computing",
          "9 Vehicles",
          "10 Generation",
          "11 Other",
        ],
        "Feature": [
          "1 Structure",
          "2 Data",
          "3 Files",
          "4 Calculations",
          "5 Webhooks",
          "6 Users",
          "7 Dashboards",
          "8 Reports",
        ],
        "SiteType": [
          "1 Office",
          "2 School",
          "3 Hospital",
          "4 Shop",
          "5 Factory",
          "6 Warehouse",
          "7 Housing",
          "8 Hotel",
          "9 Sports facility",
          "10 Public building",
          "11 Power plant",
          "12 Other",
        ],
        "SourceType": [
          "1 Sensor",
          "2 Weather station",
          "3 Boiler",
          "4 Heat pump",
          "5 Ventilation unit",
          "6 Battery",
          "7 Solar inverter",
          "8 Wind turbine",
          "9 Charging station",
          "10 Virtual meter",
          "71 Submeter",
          "72 Meter",
          "73 Other",
        ],
        "VariableType": [
          "0 Consumption",
          "1 Generation",
          "2 Injection",
          "3 Power",
          "4 Peak power",
          "5 Reactive energy",
          "6 Voltage",
          "7 Current",
          "8 Power factor",
          "9 Volume",
          "10 Flow",
          "11 Temperature",
          "12 Humidity",
          "13 Pressure",
          "14 Irradiance",
          "15 Wind speed",
          "16 Degree days",
          "17 Carbon dioxide",
          "18 Occupancy",
          "19 Emissions",
          "20 Cost",
          "21 Price",
          "22 Forecast",
          "23 Budget",
          "24 State",
          "25 Index",
          "26 Other",
        ],
      }
    `);
  });
});
