/**
 * Ends the output with `N passed, N failed`. The process exits with 1 after a failure, and also when both numbers are
 * 0.
 */
import { writeSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export default class ClosingLineReporter implements Reporter {
  #passed = 0;
  #failed = 0;

  onInit(): void {
    process.once('exit', () => {
      if (this.#passed + this.#failed === 0) process.exitCode ||= 1;
      if (this.#failed > 0) process.exitCode ||= 1;
      writeSync(1, `${this.#passed} passed, ${this.#failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = tests.map((test) => test.result().state);
    this.#passed = states.filter((state) => state === 'passed').length;
    const failedTests = states.filter((state) => state === 'failed').length;
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    this.#failed = failedTests + brokenFiles + unhandledErrors.length;
  }
}
