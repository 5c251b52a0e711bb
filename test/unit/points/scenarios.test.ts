/** The scenarios of test/scenarios, played in the model: what they expect must be what the law says. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCENARIO_FILES } from '../../scenarios/engine/files.ts';
import { openModelWorld } from '../../scenarios/engine/model-world.ts';
import { parseScenarios } from '../../scenarios/engine/parser.ts';
import { playScenario } from '../../scenarios/engine/play.ts';

describe.each(SCENARIO_FILES)('$name', ({ name, path }) => {
  it.each(parseScenarios(name, readFileSync(path, 'utf8')))('$title', async (scenario) => {
    await playScenario(openModelWorld(), scenario);
  });
});

it('there are scenarios for every table', () => {
  expect(SCENARIO_FILES.length).toBeGreaterThan(5);
});
