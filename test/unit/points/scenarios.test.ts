/**
 * Plays the scenarios of test/scenarios in the model. The model computes results from the rules alone. These tests
 * therefore check that the expected results of each scenario follow from the rules.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCENARIO_FILES } from '../../scenarios/engine/files.ts';
import { openModelWorld } from '../../scenarios/engine/model-world.ts';
import { parseScenarios } from '../../scenarios/engine/parser.ts';
import { playScenario } from '../../scenarios/engine/play.ts';

describe.each(SCENARIO_FILES)('scenarios in the model: $name', ({ name, path }) => {
  // A loop instead of `it.each`, because `it.each` shortens titles to 40 characters.
  for (const scenario of parseScenarios(name, readFileSync(path, 'utf8'))) {
    it(scenario.title, async () => {
      await playScenario(openModelWorld(), scenario);
    });
  }
});

it('scenarios: the search for scenario files finds more than five files (§9.2)', () => {
  expect(SCENARIO_FILES.length).toBeGreaterThan(5);
});
