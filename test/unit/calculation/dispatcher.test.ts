/** Log lines of the dispatcher about runs and previews that an error interrupted. */
import { expect, test, vi } from 'vitest';
import { openDispatcher } from '../../../src/calculation/turns/dispatcher.ts';
import { createLog } from '../../../src/platform/log.ts';

test('calculation: when an error interrupts a run, the log names the variable; when an error interrupts a preview, the log names the preview', async () => {
  const log = createLog('silent', 'test');
  const logged = vi.spyOn(log, 'error');
  const failure = new Error('connection lost');
  const perform = async () => {
    throw failure;
  };
  const dispatcher = openDispatcher({ slots: 2, perform, log });
  dispatcher.add([
    { accountId: 1, urgency: 'triggered', id: 7 },
    { accountId: 2, urgency: 'preview', id: 8 },
  ]);
  await dispatcher.stop(1000);
  expect(logged).toHaveBeenCalledTimes(2);
  expect(logged).toHaveBeenCalledWith(
    { err: failure, accountId: 1, urgency: 'triggered', variableId: 7 },
    expect.stringMatching(/^an error interrupted a run;/),
  );
  expect(logged).toHaveBeenCalledWith(
    { err: failure, accountId: 2, previewId: 8 },
    expect.stringMatching(/^an error interrupted a preview;/),
  );
});
