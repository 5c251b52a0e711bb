/**
 * Sorts the test files. The test files of the console follow each other, so that a worker keeps the processes that they
 * share (`console/console-processes.ts`). All other files keep the order of vitest. When vitest has no results of an
 * earlier run, it runs large files first.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const CONSOLE = '/test/acceptance/console/';

export default class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isOfConsole = ({ moduleId }: TestSpecification) => moduleId.includes(CONSOLE);
    const first = sorted.findIndex(isOfConsole);
    if (first === -1) return sorted;
    const others = sorted.filter((file) => !isOfConsole(file));
    return [...others.slice(0, first), ...sorted.filter(isOfConsole), ...others.slice(first)];
  }
}
