/** The scenarios of test/scenarios, played in the model: what they expect must be what the law says. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCENARIO_FILES } from '../support/scenario-files.ts';
import { openModelWorld } from '../support/scenario-model-world.ts';
import { parseScenarios } from '../support/scenario-parser.ts';
import { playScenario } from '../support/scenario-play.ts';

describe.each(SCENARIO_FILES)('$name', ({ name, path }) => {
  it.each(parseScenarios(name, readFileSync(path, 'utf8')))('$title', async (scenario) => {
    await playScenario(openModelWorld(), scenario);
  });
});

it('there are scenarios for every table', () => {
  expect(SCENARIO_FILES.length).toBeGreaterThan(5);
});
