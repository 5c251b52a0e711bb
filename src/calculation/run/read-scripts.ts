/**
 * Asks R for the first syntax error of a script, the names that the script reads and the periods that it groups by,
 * without running the script. Scripts are parsed in the sandbox, because a script could attack R's parser. Also lists
 * the installed packages (R-H4, R-H9).
 */
import type { RPackage, ScriptBucket, ScriptProblem, ValidateAnswer } from '../authoring/preview-task.ts';
import type { SandboxPool } from '../sandbox/pool.ts';
import type { SandboxJob, VariableInfo } from '../sandbox/sandbox-types.ts';
import { shareLimits } from './share-limits.ts';

const NO_TARGET: VariableInfo = {
  ...{ id: 0, name: '', sourceId: 0, granularity: null, granularityTimeBase: null },
  ...{ quantityType: null, aggregate: null, sourceTimeZoneId: null },
};

/** R code that lists the names that a script reads, such as `inputVariables$a`, and its groupings, such as `Day 3`. */
const READ = `
expressions <- tidemark:::parse_script(inputConstants$script)
list(
  TimeSeries = list(Dates = integer(), Values = numeric()),
  Errors = unique(c(tidemark:::names_read(expressions), tidemark:::buckets_read(expressions)))
)`;

/**
 * Matches a grouping in the output of `READ`. For example, `Day 3` means that the top-level expression that begins on
 * line 3 groups by day.
 */
const BUCKET = /^(Hour|Day|Week|Month|Year) (\d+)$/;

/**
 * Parses scripts in the sandbox without running them (R-H9).
 * @param scripts one script per formula; null for a formula without a script.
 */
export async function readScripts(
  sandbox: SandboxPool,
  scripts: readonly (string | null)[],
  signal: AbortSignal,
): Promise<ValidateAnswer> {
  const problems: ScriptProblem[] = [];
  const names: (readonly string[])[] = [];
  const buckets: (readonly ScriptBucket[])[] = [];
  const parseScript = shareLimits(sandbox);
  for (const [formula, script] of scripts.entries()) {
    if (script === null) {
      names.push([]);
      buckets.push([]);
      continue;
    }
    const outcome = await parseScript(jobOf(script), signal);
    const read = outcome.kind === 'ok' ? outcome.errors : [];
    names.push(read.filter((text) => !BUCKET.test(text)));
    buckets.push(read.flatMap(parseBucket));
    const line = outcome.kind === 'script_error' ? outcome.line : null;
    // A limit, a signal or a fault that ends the check is not an error of the script, so the message says that the
    // script could not be checked.
    const subject = outcome.kind === 'script_error' ? '' : 'the script could not be checked: ';
    if (outcome.kind !== 'ok') problems.push({ formula, message: subject + outcome.message, line });
  }
  return { problems, names, buckets };
}

function parseBucket(text: string): readonly ScriptBucket[] {
  const match = BUCKET.exec(text);
  return match ? [{ period: match[1] as ScriptBucket['period'], line: Number(match[2]) }] : [];
}

function jobOf(script: string): SandboxJob {
  const constants = [{ alias: 'script', value: script }];
  return { script: READ, inputs: [], forms: [], constants, target: NO_TARGET, triggerDate: 0 };
}

const LIST = `list(
  TimeSeries = list(Dates = integer(), Values = numeric()),
  Errors = tidemark:::installed_packages()
)`;

/**
 * Lists the R packages that scripts can load (R-H4).
 * @returns the packages, ascending by name, or why R did not list them.
 */
export async function listPackages(
  sandbox: SandboxPool,
  signal: AbortSignal,
): Promise<{ readonly packages: readonly RPackage[] } | { readonly error: string }> {
  const job = { script: LIST, inputs: [], forms: [], constants: [], target: NO_TARGET, triggerDate: 0 };
  const outcome = await sandbox.run(job, signal);
  if (outcome.kind !== 'ok') return { error: outcome.message };
  return {
    packages: outcome.errors.map((text) => {
      const [name = '', version = ''] = text.split(' ');
      return { name, version };
    }),
  };
}
