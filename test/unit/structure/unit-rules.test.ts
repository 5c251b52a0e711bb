import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scaleBetween } from '../../../src/structure/catalogue/unit-rules.ts';

const KWH = { divisor: 1, offset: 0 };
const MWH = { divisor: 1e-3, offset: 0 };
const GWH = { divisor: 1e-6, offset: 0 };
const CELSIUS = { divisor: 1, offset: 0 };
const KELVIN = { divisor: 1, offset: 273.15 };
const FAHRENHEIT = { divisor: 1.8, offset: 32 };

const convert = (value: number, from: typeof KWH, to: typeof KWH) => {
  const { factor, divisor, shift } = scaleBetween(from, to);
  return (value * factor) / divisor + shift;
};

describe('structure: conversion between units (R-C8)', () => {
  test.each([
    [1, KWH, MWH, 0.001],
    [2, GWH, MWH, 2000],
    [100, CELSIUS, KELVIN, 373.15],
    [212, FAHRENHEIT, CELSIUS, 100],
    [-40, CELSIUS, FAHRENHEIT, -40],
    [0, KELVIN, FAHRENHEIT, -459.67],
  ])('%f is converted by the definitions of the units', (value, from, to, expected) => {
    expect(convert(value, from, to)).toBeCloseTo(expected, 10);
  });

  test('between units that differ by a power of ten adds no rounding digits', () => {
    expect(scaleBetween(MWH, GWH)).toEqual({ factor: 1, divisor: 1000, shift: 0 });
    expect(scaleBetween(GWH, MWH)).toEqual({ factor: 1000, divisor: 1, shift: 0 });
    for (let value = 1; value < 1000; value++) expect(convert(value, MWH, GWH)).toBe(Number(`${value}e-3`));
  });

  test('there and back gives the original value, also through a third unit', () => {
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
