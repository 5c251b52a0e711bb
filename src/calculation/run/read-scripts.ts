/** Reads scripts without running them (R-H9), where R is: even R's parser is not let near what a client sent elsewhere. */
import type { ScriptProblem, ValidateAnswer } from '../authoring/preview-task.ts';
import type { SandboxPool } from '../sandbox/pool.ts';
import type { SandboxJob, VariableInfo } from '../sandbox/sandbox-types.ts';

const NO_TARGET: VariableInfo = {
  ...{ id: 0, name: '', sourceId: 0, granularity: null, granularityTimeBase: null },
  ...{ quantityType: null, aggregate: null, sourceTimeZoneId: null },
};

/** Parses, and collects what stands behind `inputVariables$` and its like. */
const READ = `list(
  TimeSeries = list(Dates = integer(), Values = numeric()),
  Errors = unique(tidemark:::names_read(tidemark:::parse_script(inputConstants$script)))
)`;

export async function readScripts(
  sandbox: SandboxPool,
  scripts: readonly (string | null)[],
  signal: AbortSignal,
): Promise<ValidateAnswer> {
  const problems: ScriptProblem[] = [];
  const names: (readonly string[])[] = [];
  for (const [formula, script] of scripts.entries()) {
    if (script === null) {
      names.push([]);
      continue;
    }
    const outcome = await sandbox.run(jobOf(script), signal);
    names.push(outcome.kind === 'ok' ? outcome.errors : []);
    const line = outcome.kind === 'script_error' ? outcome.line : null;
    if (outcome.kind !== 'ok') problems.push({ formula, message: outcome.message, line });
  }
  return { problems, names };
}

function jobOf(script: string): SandboxJob {
  const constants = [{ alias: 'script', value: script }];
  return { script: READ, inputs: [], forms: [], constants, target: NO_TARGET, triggerDate: 0 };
}
