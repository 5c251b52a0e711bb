/**
 * Checks what the grammar cannot express: the title of a scenario cites a rule such as R-A5; the scenario has at least
 * one expectation; its variables and moments are declared once, before their use.
 */
import type { Command, ExpectedRow, KnownAt, Moment, Scenario, SourcePosition } from './syntax.ts';
import { ScenarioSyntaxError } from './tokens.ts';

const CITATION = /§\d|R-[A-K]\d/;

/** @throws {ScenarioSyntaxError} when a check fails. The error names the file, the line and the rule. */
export function checkScenario({ title, position, commands }: Scenario): void {
  const require = (holds: boolean, where: SourcePosition, rule: string): void => {
    if (!holds) throw new ScenarioSyntaxError(where, rule);
  };
  require(CITATION.test(title), position, `a scenario must cite its rule as §n or R-Xn, got ${title}`);
  require(commands.some(isExpectation), position, 'a scenario must expect something');
  const variables = new Set<string>();
  const labels = new Set<string>();
  for (const command of commands) {
    if (command.kind === 'variable') {
      require(!variables.has(command.variable), command.position, `variable ${command.variable} must be new`);
      variables.add(command.variable);
    }
    for (const name of variablesOf(command)) {
      require(variables.has(name), command.position, `variable ${name} must be declared before it is used`);
    }
    for (const [label, where] of labelsUsed(command)) {
      require(labels.has(label), where, `moment ${label} must be declared by an earlier write`);
    }
    const moment = command.kind === 'write' ? command.moment : undefined;
    if (moment?.kind === 'label') {
      require(!labels.has(moment.label), command.position, `moment ${moment.label} must be new`);
      labels.add(moment.label);
    }
  }
}

function isExpectation(command: Command): boolean {
  return 'expected' in command || command.expectedError !== undefined;
}

function variablesOf(command: Command): readonly string[] {
  switch (command.kind) {
    case 'account-limit':
      return [];
    case 'write':
      return command.bodies.flatMap((body) => body.map(({ variable }) => variable));
    case 'read':
    case 'count':
      return command.query.variables;
    case 'purge':
      return command.variables;
    case 'copy':
      return [command.variable, command.input];
    default:
      return [command.variable];
  }
}

function labelsUsed(command: Command): readonly (readonly [string, SourcePosition])[] {
  if (command.kind === 'read') {
    return [...ofKnownAt(command.query.choice.knownAt, command.position), ...command.expected.flatMap(ofRow)];
  }
  if (command.kind === 'count') return ofKnownAt(command.query.choice.knownAt, command.position);
  if (command.kind !== 'versions') return [];
  return command.expected.flatMap(({ first, last, position }) =>
    [first, last].flatMap((moment) => ofMoment(moment, position)),
  );
}

function ofRow({ moment, position }: ExpectedRow): readonly (readonly [string, SourcePosition])[] {
  return ofMoment(moment, position);
}

function ofMoment(
  moment: Moment | undefined,
  position: SourcePosition,
): readonly (readonly [string, SourcePosition])[] {
  return moment?.kind === 'label' ? [[moment.label, position]] : [];
}

function ofKnownAt(
  knownAt: KnownAt | undefined,
  position: SourcePosition,
): readonly (readonly [string, SourcePosition])[] {
  return knownAt?.kind === 'label' ? [[knownAt.label, position]] : [];
}
