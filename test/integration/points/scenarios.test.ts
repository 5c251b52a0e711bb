/** Plays the scenarios of test/scenarios against the real store. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { SCENARIO_FILES } from '../../scenarios/engine/files.ts';
import { parseScenarios } from '../../scenarios/engine/parser.ts';
import { playScenario } from '../../scenarios/engine/play.ts';
import { openScenarioStore, type ScenarioStore } from '../../scenarios/engine/store-world.ts';

let store: ScenarioStore;
beforeAll(async () => {
  store = await openScenarioStore();
});
afterAll(() => store.close());

describe.each(SCENARIO_FILES)('scenarios in the store: $name', ({ name, path }) => {
  // This is a loop instead of `it.each`, because `it.each` shortens titles to 40 characters.
  for (const scenario of parseScenarios(name, readFileSync(path, 'utf8'))) {
    it(scenario.title, async () => {
      await playScenario(await store.openWorld(), scenario);
    });
  }
});
