/** Tests the tools for script authors: validate, evaluate and sampleData (R-H9), and the list of packages (R-H4). */
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { containerCommand, makeSocketDirectory } from '../../src/calculation/sandbox/launcher-bwrap.ts';
import { fetchAnswerChecker } from '../support/answers/described-answers.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiClient, signIn } from '../support/fixtures/sign-in.ts';
import { calculated, createSiteAndSource, createStructure, createVariable } from '../support/fixtures/structure.ts';
import { createWorld, type World } from '../support/fixtures/world.ts';
import { type RoleProcess, startRoles } from '../support/services/role-process.ts';
import { testRRoot } from '../support/services/stack.ts';

interface Evaluation {
  readonly outcome: string;
  readonly message: string | null;
  readonly line?: number;
  readonly series: readonly { readonly date: string; readonly value: number; readonly tags?: object }[];
  readonly counts: Readonly<Record<string, number>>;
  readonly messages: readonly string[];
  readonly warnings: readonly string[];
  readonly output: string;
  readonly durationsMs: Readonly<Record<string, number>>;
  readonly plots: readonly { readonly name: string; readonly format: string; readonly data: string }[];
}

interface Validation {
  readonly isValid: boolean;
  readonly problems: readonly { readonly path: string; readonly message: string; readonly line?: number }[];
  readonly warnings: readonly { readonly message: string }[];
}

let world: World;
let roles: RoleProcess;
let api: ApiClient;
let sourceId: number;
let input: number;
beforeAll(async () => {
  world = await createWorld();
  roles = await startRoles(['api', 'ingester', 'calculator'], { ...world.environment, R_ROOT: testRRoot() });
  api = await signIn(roles.http, await fetchAnswerChecker(roles.http));
  ({ sourceId } = await createSiteAndSource(api));
  input = await createVariable(api, sourceId);
  const data = Array.from({ length: 8 }, (_, index) => ({
    date: new Date(Date.UTC(2026, 2, 1) + index * 900_000).toISOString(),
    value: index,
  }));
  await api.call('POST', '/api/data', [{ variableId: input, data }]);
  await eventually(
    'the points',
    async () => (await api.call<unknown[]>('GET', `/data?variableId=${input}`)).length === 8,
  );
}, 60_000);
afterAll(async () => {
  await roles?.kill('SIGTERM');
  await world?.close();
});

const AT = '$.calculated.calculatedVariableFormulas[0]';
const window = () => ({
  ...{ alias: 'a', variableId: input, periodType: 'RelativeDate', period: 2, periodTimeBase: 'Hour' },
  alignTo: 'Day',
});
const HOURLY_SUM = `
library(dplyr)
ts <- inputVariables$a$TimeSeries
message("points: ", nrow(ts))
plot(ts$Dates, ts$Values)
hourly <- ts %>%
  mutate(Dates = Dates - Dates %% 3600L) %>%
  group_by(Dates) %>%
  summarise(Values = sum(Values) * inputConstants$factor, .groups = "drop")
list(TimeSeries = as.data.frame(hourly))`;
const declared = (script = HOURLY_SUM) => calculated(script, [window()], [{ alias: 'factor', value: 2 }]);
const pathOf = (variableId: number, what: string) => `/sources/${sourceId}/variables/${variableId}/calculated/${what}`;

describe('calculation: validate', () => {
  const validate = async (body: object) => {
    const variableId = await createVariable(api, sourceId);
    return api.call<Validation>('POST', pathOf(variableId, 'validate'), body);
  };

  test('validation of a valid declaration reports no problems and does not save the declaration (R-H9)', async () => {
    const variableId = await createVariable(api, sourceId);
    const answer = await api.call('POST', pathOf(variableId, 'validate'), { calculated: declared() });
    expect(answer).toEqual({ isValid: true, problems: [], warnings: [] });
    expect(await api.call('GET', `/variables/${variableId}`)).not.toHaveProperty('calculated');
  });

  test('a syntax error is reported with its line, an unknown input with its path, and the use of an undeclared alias as a warning (R-H9)', async () => {
    expect(await validate({ calculated: declared('x <- 1\ny <- (\n}') })).toMatchObject({
      isValid: false,
      problems: [{ path: `${AT}.formula`, line: 3 }],
    });
    const unknown = { calculated: calculated('1', [{ ...window(), variableId: 999_999 }]) };
    expect(await validate(unknown)).toMatchObject({ problems: [{ path: `${AT}.variables[0].variableId` }] });
    expect(await validate({ calculated: declared('inputVariables$b; inputConstants[["factor"]]') })).toMatchObject({
      isValid: true,
      warnings: [{ message: 'inputVariables$b is not declared; this formula declares a' }],
    });
  });

  test('when a declaration would form a cycle, the answer reports a problem; a call without a declaration validates the saved declaration (R-H1)', async () => {
    const first = await createVariable(api, sourceId, { calculated: declared() });
    const second = await createVariable(api, sourceId, {
      calculated: calculated('1', [{ ...window(), variableId: first }]),
    });
    const cycle = { calculated: calculated('1', [{ ...window(), variableId: second }]) };
    const answer = await api.call<Validation>('POST', pathOf(first, 'validate'), cycle);
    expect(answer.problems[0]?.message).toContain('would form a cycle');
    expect(await api.call('POST', pathOf(first, 'validate'))).toMatchObject({ isValid: true });
  });

  test('a window that may begin or end in the middle of an hour gives a warning when the script computes hourly sums (R-H9)', async () => {
    const body = {
      calculated: calculated(HOURLY_SUM, [{ ...window(), alignTo: null }], [{ alias: 'factor', value: 2 }]),
    };
    expect(await validate(body)).toMatchObject({ isValid: true, warnings: [{ path: `${AT}.variables[0].alignTo` }] });
  });

  test('the script is not run (R-H9)', async () => {
    expect(await validate({ calculated: declared('stop("was run")') })).toMatchObject({ isValid: true });
  });
});

test('calculation: GET /calculated/packages lists the R packages with their versions, and a script can load each of nine sample packages from this list (R-H4)', async () => {
  const packages = await api.call<{ name: string; version: string }[]>('GET', '/calculated/packages');
  const names = packages.map(({ name }) => name);
  const wanted = ['forecast', 'ggplot2', 'tidyr', 'stringr', 'slider', 'MASS', 'mgcv', 'survival', 'data.table'];
  expect(names).toEqual(expect.arrayContaining(wanted));
  expect(names).not.toContain('tidemark');
  expect(packages.every(({ version }) => /^\d+[.\d-]+$/.test(version))).toBe(true);
  const script = `for (name in c("${wanted.join('", "')}")) library(name, character.only = TRUE)
    fit <- forecast::forecast(forecast::ets(ts(1:20)), h = 1)
    print(ggplot(data.frame(x = 1:3), aes(x, x)) + geom_line())
    list(TimeSeries = list(Dates = triggerDate, Values = as.numeric(fit$mean)))`;
  const variableId = await createVariable(api, sourceId);
  const answer = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), { calculated: declared(script) });
  expect(answer).toMatchObject({ outcome: 'ok', series: [{ value: expect.closeTo(21, 0) }] });
  expect(answer.plots).toHaveLength(1);
});

describe('calculation: evaluate', () => {
  test('returns series, messages, timing and plots, and stores nothing (R-H9)', async () => {
    const variableId = await createVariable(api, sourceId, { calculated: declared() });
    const answer = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), {});
    expect(answer).toMatchObject({
      outcome: 'ok',
      series: [
        { date: '2026-03-01T00:00:00Z', value: 12 },
        { date: '2026-03-01T01:00:00Z', value: 44 },
      ],
      counts: { read: 8, returned: 2, merged: 0, wouldStore: 2 },
      ...{ messages: ['points: 8'], errors: [], line: null, limit: null },
    });
    expect(Object.keys(answer.durationsMs).sort()).toEqual(['load', 'r', 'sandboxWait']);
    expect(answer.plots).toMatchObject([{ name: 'plot-001.svg', format: 'svg' }]);
    expect(Buffer.from(answer.plots[0]?.data ?? '', 'base64').toString()).toContain('<svg');
    expect(await api.call('GET', `/data?variableId=${variableId}`)).toEqual([]);
    expect(await api.call('GET', `/variables/${variableId}/runs`)).toEqual([]);
  });

  test('runs an unsaved declaration over the requested period and returns plots as PNG when the request asks for PNG (R-H9)', async () => {
    const variableId = await createVariable(api, sourceId);
    const unaligned = calculated(HOURLY_SUM, [{ ...window(), alignTo: null }], [{ alias: 'factor', value: 2 }]);
    const body = { calculated: unaligned, from: '2026-02-28T22:00:00Z', to: '2026-02-28T22:30:00Z', pictures: 'PNG' };
    const answer = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), body);
    expect(answer.series).toMatchObject([{ value: 6 }]);
    const [plot] = answer.plots;
    expect(
      Buffer.from(plot?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  test('returns the line and call of a script error, and the plots drawn before the error (R-H8, R-H9)', async () => {
    const variableId = await createVariable(api, sourceId);
    const script = 'plot(1:3)\nhelper <- function(x) {\n  stop("no such meter")\n}\nhelper(1)';
    const answer = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), { calculated: declared(script) });
    expect(answer).toMatchObject({ outcome: 'script_error', message: 'no such meter', line: 3, call: 'helper(1)' });
    expect(answer.plots).toHaveLength(1);
  });

  test('inputs of another account are refused (R-B9)', async () => {
    const variableId = await createVariable(api, sourceId);
    const otherAccountId = await world.addAccount('Other');
    await world.addUser('other@example.test', { role: 'MANAGER', accountIds: [otherAccountId] });
    const other = await signIn(roles.http, undefined, 'other@example.test');
    const foreign = await createStructure(other);
    const body = { calculated: calculated('1', [{ ...window(), variableId: foreign.variableId }]) };
    expect((await api.post(pathOf(variableId, 'evaluate'), body)).status).toBe(400);
  });
});

describe('calculation: sampleData', () => {
  test('plain R loads the data, and the script then returns the same series as `evaluate` (R-H9)', async () => {
    const variableId = await createVariable(api, sourceId, { calculated: declared() });
    const { series } = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), {});
    const response = await fetch(roles.http + pathOf(variableId, 'sampleData'), {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect(response.headers.get('content-disposition')).toContain('.rdata');
    const output = await runPlainR(Buffer.from(await response.arrayBuffer()), HOURLY_SUM);
    const expected = series.map(({ date, value }) => `${Date.parse(date) / 1000} ${value}`);
    expect(output.trim().split('\n')).toEqual(expected);
  });

  test('contains the toolbox and the random seed, so that a script returns the same series in plain R as in `evaluate` (R-H4, R-H9)', async () => {
    const script = `axis <- do.call("GetRegularAxis", list())
      both <- SetDataOnCommonAxis(inputVariables, axis)
      drawn <- do.call("runif", list(length(axis))) + kmeans(c(1, 2, 8, 9, 15), 2)$cluster[1] + mtcars[sample(1:32, 1), 1]
      list(TimeSeries = FilterNaOutput(data.frame(Dates = axis, Values = both$a + drawn)))`;
    const target = { granularity: 1, granularityTimeBase: 'Hour' };
    const variableId = await createVariable(api, sourceId, { ...target, calculated: declared(script) } as object);
    const { series } = await api.call<Evaluation>('POST', pathOf(variableId, 'evaluate'), {});
    const response = await fetch(roles.http + pathOf(variableId, 'sampleData'), {
      headers: { authorization: `Bearer ${api.token}` },
    });
    const output = await runPlainR(Buffer.from(await response.arrayBuffer()), script);
    const rows = output
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(series.map(({ date, value }) => [Date.parse(date) / 1000, expect.closeTo(value, 10)]));
  });

  test('answers 409 for a variable without a formula (R-H9)', async () => {
    const variableId = await createVariable(api, sourceId);
    expect((await api.get(pathOf(variableId, 'sampleData'))).status).toBe(409);
  });
});

/**
 * Runs the script as an author does in plain R: loads the sample data `rdata`, and sources the script.
 * @returns one line for each point of the script's `TimeSeries`: its date and value.
 */
async function runPlainR(rdata: Buffer, script: string): Promise<string> {
  const text = [
    `writeBin(jsonlite::base64_dec("${rdata.toString('base64')}"), "/tmp/sample.rdata"); load("/tmp/sample.rdata")`,
    `writeLines(rawToChar(jsonlite::base64_dec("${Buffer.from(script).toString('base64')}")), "/tmp/script.R")`,
    'pdf(NULL); result <- suppressMessages(source("/tmp/script.R")$value$TimeSeries)',
    'cat(paste(result$Dates, format(result$Values, digits = 15, trim = TRUE)), sep = "\\n")',
  ];
  const directory = await makeSocketDirectory();
  // Runs R without the runtime's library, which authors do not have locally.
  const plainR = ['env', '--unset=R_LIBS', 'Rscript', '--vanilla', '-e', text.join('\n')];
  const [file = '', ...rest] = containerCommand(testRRoot(), directory, plainR);
  const { stdout, stderr, status } = spawnSync(file, rest, { encoding: 'utf8' });
  await rm(directory, { recursive: true });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
