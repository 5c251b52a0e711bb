/** Runs the commands of a scenario in a world, and compares the results of its reads with the expected ones. */
import { formatInstant } from './instants.ts';
import { formatMoment, formatTags } from './rows.ts';
import type { Command, ExpectedRow, ExpectedVersion, Look, Moment, Scenario, Tags } from './syntax.ts';
import type { Row, Span, VersionLine, World } from './world.ts';

// Relative tolerance of aggregates: they may differ by rounding, because the database adds values in an undefined
// order. Other values must be equal.
const TOLERANCE = 1e-9;

/** @throws {Error} when a result differs from the expected result, or when a command fails unexpectedly. */
export async function playScenario(world: World, { commands }: Scenario): Promise<void> {
  for (const command of commands) await play(world, command);
}

async function play(world: World, command: Command): Promise<void> {
  const { position, expectedError } = command;
  const fail = (message: string): never => {
    throw new Error(`${position.file}:${position.line}: ${message}`);
  };
  const refusal = await run(world, command, fail).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (expectedError === undefined) {
    if (refusal !== undefined) throw refusal;
    return;
  }
  const message = refusal instanceof Error ? refusal.message : 'no error';
  if (!message.includes(expectedError)) fail(`expected error ${JSON.stringify(expectedError)}, got ${message}`);
}

type Fail = (message: string) => never;

async function run(world: World, command: Command, fail: Fail): Promise<void> {
  switch (command.kind) {
    case 'read':
    case 'count':
    case 'versions':
    case 'delete':
      await readBack(world, command, fail);
      return;
    default:
      await world.perform(command);
  }
}

async function readBack(world: World, command: Look, fail: Fail): Promise<void> {
  switch (command.kind) {
    case 'read': {
      const { query, expected } = command;
      const rows = await world.read(query);
      const isNamed = query.variables.length > 1;
      const differ = (isSame: boolean): boolean => rows.length !== expected.length || !isSame;
      const tolerance = query.aggregation ? TOLERANCE : 0;
      const isSame = expected.every((row, position) => matches(world, row, rows[position], tolerance));
      if (differ(isSame))
        fail(
          describe(
            expected.map((row) => showExpected(row, isNamed)),
            rows.map((row) => show(row, isNamed)),
          ),
        );
      return;
    }
    case 'count':
    case 'delete': {
      const count =
        command.kind === 'count'
          ? await world.count(command.query)
          : await world.remove(command.variable, command.period, command.isWhatIf);
      if (command.expected !== undefined && count !== command.expected) {
        fail(`expected ${command.expected}, got ${count}`);
      }
      return;
    }
    case 'versions': {
      const { expected } = command;
      const lines = await world.versions(command.variable);
      const isSame = expected.every((line, position) => matchesVersion(world, line, lines[position]));
      if (lines.length !== expected.length || !isSame)
        fail(describe(expected.map(showExpectedVersion), lines.map(showVersion)));
    }
  }
}

function matches(world: World, expected: ExpectedRow, row: Row | undefined, tolerance: number): boolean {
  if (!row || row.variable !== expected.variable || row.dateMicros !== expected.dateMicros) return false;
  if (!isSameValue(expected.value, row.value, tolerance) || row.version !== expected.version) return false;
  if (expected.tags && !isSameTags(expected.tags, row.tags)) return false;
  return !expected.moment || (row.versionMicros !== null && isAt(world, expected.moment, row.versionMicros));
}

function matchesVersion(world: World, expected: ExpectedVersion, line: VersionLine | undefined): boolean {
  if (!line || line.version !== expected.version || line.count !== expected.count) return false;
  if (expected.first && !isAt(world, expected.first, line.firstMicros)) return false;
  return !expected.last || isAt(world, expected.last, line.lastMicros);
}

function isSameValue(expected: number | null, value: number | null, tolerance: number): boolean {
  if (expected === null || value === null) return expected === value;
  return Math.abs(expected - value) <= tolerance * Math.max(1, Math.abs(expected));
}

export function isSameTags(expected: Tags, tags: Tags): boolean {
  return formatTags(expected) === formatTags(tags);
}

function isAt(world: World, moment: Moment, micros: number): boolean {
  if (moment.kind === 'instant') return moment.micros === micros;
  const { firstMicros, lastMicros }: Span = world.spanOf(moment.label);
  return firstMicros <= micros && micros <= lastMicros;
}

function describe(expected: readonly string[], got: readonly string[]): string {
  const list = (lines: readonly string[]) =>
    lines.length === 0 ? '  none' : lines.map((line) => `  ${line}`).join('\n');
  return `expected\n${list(expected)}\ngot\n${list(got)}`;
}

function show({ variable, dateMicros, value, version, tags, versionMicros }: Row, isNamed: boolean): string {
  const at = versionMicros === null ? undefined : formatInstant(versionMicros);
  return line(isNamed ? variable : undefined, dateMicros, value, version, tags, at);
}

function showExpected({ variable, dateMicros, value, version, tags, moment }: ExpectedRow, isNamed: boolean): string {
  return line(isNamed ? variable : undefined, dateMicros, value, version, tags, moment && formatMoment(moment));
}

function line(
  variable: string | undefined,
  dateMicros: number,
  value: number | null,
  version: string | null,
  tags: Tags | undefined,
  at: string | undefined,
): string {
  const parts = [
    variable,
    formatInstant(dateMicros),
    value ?? 'none',
    version === null ? undefined : `version ${version}`,
    tags && Object.keys(tags).length > 0 ? `tags ${formatTags(tags)}` : undefined,
    at === undefined ? undefined : `at ${at}`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function showVersion({ version, count, firstMicros, lastMicros }: VersionLine): string {
  const name = version === null ? 'unnamed' : `version ${version}`;
  return `${name} count ${count} first ${formatInstant(firstMicros)} last ${formatInstant(lastMicros)}`;
}

function showExpectedVersion({ version, count, first, last }: ExpectedVersion): string {
  const name = version === null ? 'unnamed' : `version ${version}`;
  const moments = [first && ` first ${formatMoment(first)}`, last && ` last ${formatMoment(last)}`];
  return `${name} count ${count}${moments.join('')}`;
}
