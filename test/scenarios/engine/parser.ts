/**
 * Parses scenario files (grammar: test/scenarios/README.md). An error names the file, the line and the broken
 * rule of the scenario language. It is an error when the title of a scenario cites no requirement (such as §9.2 or
 * R-F3), and when a scenario expects nothing and so could never fail.
 */
import { checkScenario } from './checks.ts';
import { period, query } from './queries.ts';
import {
  expectedRows,
  expectedVersions,
  instant,
  labelsOf,
  moment,
  nextIsVariable,
  readings,
  scriptOutput,
  variableName,
  wholeNumber,
} from './rows.ts';
import type { Action, Command, Look, Moment, PushBody, PushElement, Scenario, SourcePosition } from './syntax.ts';
import { type Cursor, END_OF_FILE, END_OF_LINE, openCursor, ScenarioSyntaxError } from './tokens.ts';

const TITLE = /^\s*scenario\s+(\S.*?)\s*$/;

/** @throws {ScenarioSyntaxError} when `source` breaks a rule of the language; the message names file, line and rule. */
export function parseScenarios(file: string, source: string): readonly Scenario[] {
  const scenarios = split(file, source).map(({ title, position, body }) => {
    const scenario = { title, position: position, commands: readCommands(openCursor(file, body)) };
    checkScenario(scenario);
    return scenario;
  });
  if (scenarios.length === 0) throw new ScenarioSyntaxError({ file, line: 1 }, 'a file must hold a scenario');
  return scenarios;
}

interface Section {
  readonly title: string;
  readonly position: SourcePosition;
  /**
   * The text of this section, after as many empty lines as the file has lines before it. So line numbers in errors are
   * those of the file.
   */
  readonly body: string;
}

function split(file: string, source: string): readonly Section[] {
  const lines = source.split('\n');
  const starts = lines.flatMap((line, index) => (TITLE.test(line) ? [index] : []));
  const stray = lines.slice(0, starts[0]).findIndex((line) => !/^\s*(#.*)?$/.test(line));
  if (stray >= 0) throw new ScenarioSyntaxError({ file, line: stray + 1 }, 'a file must begin with a scenario');
  return starts.map((start, index) => ({
    title: TITLE.exec(lines[start] ?? '')?.[1] ?? '',
    position: { file, line: start + 1 },
    body: '\n'.repeat(start + 1) + lines.slice(start + 1, starts[index + 1]).join('\n'),
  }));
}

function readCommands(cursor: Cursor): readonly Command[] {
  const commands: Command[] = [];
  for (;;) {
    cursor.skipLineEnds();
    if (cursor.next().text === END_OF_FILE) return commands;
    const position = cursor.position();
    const command = readCommand(cursor);
    cursor.due(END_OF_LINE);
    cursor.skipLineEnds();
    const expectedError = expectation(cursor);
    commands.push({ ...command, position: position, ...(expectedError !== undefined && { expectedError }) });
  }
}

/** Parses `expect error "words"` on a line of its own. */
function expectation(cursor: Cursor): string | undefined {
  if (!cursor.takes('expect')) return undefined;
  cursor.due('error');
  return cursor.text('error');
}

function readCommand(cursor: Cursor): Action | Look {
  const commands: Readonly<Record<string, (cursor: Cursor) => Action | Look>> = {
    ...{ account, variable, toggle, limit, push, together, calculate, purge },
    ...{ read, count, versions, delete: deletion },
  };
  const command = cursor.word('a command', `one of ${Object.keys(commands).join(', ')}`, (word) => {
    return Object.hasOwn(commands, word) ? commands[word] : undefined;
  });
  return command(cursor);
}

function account(cursor: Cursor): Action {
  cursor.due('limit');
  return { kind: 'account-limit', limit: wholeNumber(cursor, 'limit', 1) };
}

function variable(cursor: Cursor): Action {
  const name = variableName(cursor);
  const isVersioned = isVersionedNext(cursor);
  const limit = cursor.takes('limit') ? wholeNumber(cursor, 'limit', 1) : null;
  return { kind: 'variable', variable: name, isVersioned, limit };
}

/** Parses `versioned` or `plain`; the default is `plain`. */
function isVersionedNext(cursor: Cursor): boolean {
  return !cursor.takes('plain') && cursor.takes('versioned');
}

function toggle(cursor: Cursor): Action {
  const name = variableName(cursor);
  const isVersioned = cursor.takes('versioned');
  if (!isVersioned) cursor.due('plain');
  return { kind: 'toggle', variable: name, isVersioned };
}

function limit(cursor: Cursor): Action {
  const name = variableName(cursor);
  return { kind: 'limit', variable: name, limit: cursor.takes('none') ? null : wholeNumber(cursor, 'limit', 1) };
}

function push(cursor: Cursor): Action {
  const { body, at } = pushBody(cursor);
  return { kind: 'write', bodies: [body], ...(at && { moment: at }) };
}

/** Parses `together { … }`: several pushes, whose points the test writes to the database in one transaction. */
function together(cursor: Cursor): Action {
  const at = cursor.takes('at') ? moment(cursor) : undefined;
  cursor.due('{');
  const bodies: PushBody[] = [];
  for (;;) {
    cursor.skipLineEnds();
    if (cursor.takes('}')) return { kind: 'write', bodies, ...(at && { moment: at }) };
    cursor.due('push');
    const part = pushBody(cursor);
    if (part.at) cursor.fail('at must follow together, not a push within its braces');
    bodies.push(part.body);
  }
}

function pushBody(cursor: Cursor): { readonly body: PushBody; readonly at?: Moment } {
  const first = pushElement(cursor);
  const body = [first.element];
  while (cursor.takes('and')) {
    const further = pushElement(cursor);
    if (further.at) cursor.fail('at must follow the first variable of a push');
    body.push(further.element);
  }
  return { body, ...(first.at && { at: first.at }) };
}

function pushElement(cursor: Cursor): { readonly element: PushElement; readonly at?: Moment } {
  const name = variableName(cursor);
  const at = cursor.takes('at') ? moment(cursor) : undefined;
  const labels = labelsOf(cursor);
  return { element: { variable: name, ...labels, readings: readings(cursor) }, ...(at && { at }) };
}

function calculate(cursor: Cursor): Action {
  const name = variableName(cursor);
  cursor.due('at');
  const atMicros = instant(cursor, 'the time of the calculation');
  if (cursor.takes('from')) return { kind: 'copy', variable: name, atMicros, input: variableName(cursor) };
  return { kind: 'calculate', variable: name, atMicros, output: scriptOutput(cursor) };
}

function purge(cursor: Cursor): Action {
  const variables = [variableName(cursor)];
  while (nextIsVariable(cursor)) variables.push(variableName(cursor));
  return { kind: 'purge', variables };
}

function read(cursor: Cursor): Look {
  const asked = query(cursor);
  cursor.due('->');
  return { kind: 'read', query: asked, expected: expectedRows(cursor, asked.variables) };
}

function count(cursor: Cursor): Look {
  const asked = query(cursor);
  if (asked.page) cursor.fail('count must not be paged: it counts what all pages hold');
  cursor.due('->');
  return { kind: 'count', query: asked, expected: wholeNumber(cursor, 'count', 0) };
}

function versions(cursor: Cursor): Look {
  const name = variableName(cursor);
  cursor.due('->');
  return { kind: 'versions', variable: name, expected: expectedVersions(cursor) };
}

function deletion(cursor: Cursor): Look {
  const name = variableName(cursor);
  const deleted = period(cursor);
  const isWhatIf = cursor.takes('whatif');
  const expected = cursor.takes('->') ? wholeNumber(cursor, 'count', 0) : undefined;
  return { kind: 'delete', variable: name, period: deleted, isWhatIf, ...(expected !== undefined && { expected }) };
}
