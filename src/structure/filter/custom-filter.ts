/**
 * Compiles a customFilter (R-C10) to a parameterised SQL condition over the fields of a resource. Field names are
 * case-insensitive; a path of several words leads into clientData, whose keys are case-sensitive. `~`, `like` and
 * `startswith` ignore case; `=` ignores the case of enumerations and booleans only. An absent value differs from every
 * value.
 */
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Resource } from '../resource.ts';
import {
  type Comparison,
  type FilterNode,
  type FilterOperator,
  type FilterValue,
  parseFilter,
} from './filter-parser.ts';

/** Left side of a comparison: an SQL expression and its type. */
interface Operand {
  readonly expression: string;
  readonly type: 'text' | 'number' | 'boolean' | 'texts' | 'json';
  readonly members?: Readonly<Record<string, number>>;
}

interface Compilation {
  readonly resource: Resource;
  /** Resource that `Site{…}` refers to; undefined where `Site{…}` is not allowed. */
  readonly site: Resource | undefined;
  readonly values: unknown[];
}

/** Name of the query parameter that contains the filter. */
export const PARAMETER = 'customFilter';
const CLIENT_DATA = 'clientdata';
const NUMBER = /^[+-]?\d+(\.\d+)?$/;
const INTEGER = /^[+-]?\d{1,9}$/;
const BOOLEAN = /^(true|false)$/i;

/**
 * Compiles a filter and pushes its parameters to `values` (R-C10).
 * @param site the resource that `Site{…}` refers to. A query that uses the condition must join the site's table.
 * @returns an SQL condition.
 * @throws {DomainError} invalid_input with the position of the first fault.
 */
export function compileFilter(text: string, resource: Resource, site: Resource | undefined, values: unknown[]): string {
  const parsed = parseFilter(text);
  if (parsed.kind === 'invalid') throw fault(parsed.position, parsed.message);
  return compileNode(parsed.node, { resource, site, values });
}

function compileNode(node: FilterNode, compilation: Compilation): string {
  switch (node.kind) {
    case 'and':
    case 'or':
      return `(${node.nodes.map((part) => compileNode(part, compilation)).join(` ${node.kind} `)})`;
    case 'site': {
      const { site, values } = compilation;
      if (!site)
        throw fault(node.position, 'Site{…} is only allowed in a filter of sources, and not within another Site{…}');
      return compileNode(node.node, { resource: site, site: undefined, values });
    }
    case 'comparison':
      return compileComparison(node, compilation);
  }
}

function compileComparison(comparison: Comparison, { resource, values }: Compilation): string {
  const operand = findOperand(comparison, resource, values);
  const { operator, value } = comparison;
  if (!isStorableText(value.text)) throw fault(value.position, `the value ${STORABLE_RULE}`);
  if (operand.type === 'texts') return compareTexts(operand, operator, value, values);
  if (isPattern(operator)) return comparePattern(operand, operator, value, values);
  if (operand.type === 'json') return compareJson(operand, operator, value, values);
  return compareValues(
    operand.expression,
    operator,
    `$${values.push(toValue(operand, value))}`,
    sqlType(operand, value),
  );
}

function findOperand({ path, position }: Comparison, resource: Resource, values: unknown[]): Operand {
  const [first = '', ...rest] = path;
  if (rest.length > 0) {
    if (!resource.fields.clientData)
      throw fault(position, `resources of kind ${resource.kind} have no clientData, so a filter cannot use a path`);
    const keys = first.toLowerCase() === CLIENT_DATA ? rest : path;
    return { expression: `${resource.table}.client_data #> $${values.push(keys)}::text[]`, type: 'json' };
  }
  if (first.toLowerCase() === 'id') return { expression: `${resource.table}.id`, type: 'number' };
  const entry = Object.entries(resource.fields).find(([name]) => name.toLowerCase() === first.toLowerCase());
  const derived = Object.entries(resource.derived).find(([name]) => name.toLowerCase() === first.toLowerCase());
  if (derived) return { expression: derived[1], type: 'text' };
  const type = entry?.[1].filterType;
  if (!entry || !type) {
    const rule = `${resource.kind} has no field ${JSON.stringify(first)} to filter by`;
    throw fault(position, `${rule}; a filter may use ${listFields(resource)}`);
  }
  const { column, members } = entry[1];
  return { expression: `${resource.table}.${column}`, type, ...(members && { members }) };
}

/** Lists the fields that a filter of the resource may compare. One entry stands for all paths into clientData. */
function listFields({ fields, derived }: Resource): string {
  const names = Object.keys(fields).filter((name) => fields[name]?.filterType);
  const paths = fields.clientData ? ['paths such as clientData.Form.Group.Field'] : [];
  return ['id', ...names, ...Object.keys(derived), ...paths].join(', ');
}

function compareValues(expression: string, operator: FilterOperator, parameter: string, type: string): string {
  if (operator === '<>') return `${expression} is distinct from ${parameter}::${type}`;
  // Has no coalesce, so that an index can be used. A null result is harmless: it acts like false, because no operator
  // negates a whole condition.
  return `${expression} ${operator} ${parameter}::${type}`;
}

/**
 * Compares a JSON value of the resource: `=` and `<>` as text; `<`, `<=`, `>` and `>=` as numbers when the filter gives
 * an unquoted number, else as text.
 */
function compareJson({ expression }: Operand, operator: FilterOperator, value: FilterValue, values: unknown[]): string {
  const text = `(${expression}) #>> '{}'`;
  const isOrder = !['=', '<>'].includes(operator);
  if (isOrder && !value.isQuoted && NUMBER.test(value.text)) {
    const number = `case when jsonb_typeof(${expression}) = 'number' then (${text})::numeric end`;
    return compareValues(number, operator, `$${values.push(value.text)}`, 'numeric');
  }
  return compareValues(text, operator, `$${values.push(value.text)}`, 'text');
}

function comparePattern(operand: Operand, operator: FilterOperator, value: FilterValue, values: unknown[]): string {
  const text = operand.type === 'json' ? `(${operand.expression}) #>> '{}'` : `${operand.expression}::text`;
  if (operand.type !== 'text' && operand.type !== 'json') {
    throw fault(
      value.position,
      `${operator} is not allowed for numbers, booleans and enumerations; use =, <>, >, >=, < or <=`,
    );
  }
  const matches = `${text} ilike $${values.push(toPattern(operator, value))}::text`;
  return operator.startsWith('!') ? `not coalesce(${matches}, false)` : matches;
}

/**
 * Compares a list of texts with the value. The list satisfies `=`, `~` or `startswith` when at least one of its texts
 * does. It satisfies the negated operator (`<>`, `!~` or `!startswith`) when none of its texts satisfies the operator
 * without the negation.
 */
function compareTexts(
  { expression }: Operand,
  operator: FilterOperator,
  value: FilterValue,
  values: unknown[],
): string {
  if (!isPattern(operator) && operator !== '=' && operator !== '<>') {
    throw fault(
      value.position,
      `${operator} is not allowed for lists of strings; use =, <>, ~, !~, startswith or !startswith`,
    );
  }
  const isNegated = operator === '<>' || operator.startsWith('!');
  const condition = isPattern(operator)
    ? `item ilike $${values.push(toPattern(operator, value))}::text`
    : `item = $${values.push(value.text)}::text`;
  return `${isNegated ? 'not ' : ''}exists (select from unnest(${expression}) item where ${condition})`;
}

function isPattern(operator: FilterOperator): boolean {
  return operator.endsWith('~') || operator.endsWith('startswith');
}

function toPattern(operator: FilterOperator, { text }: FilterValue): string {
  const literal = text.replace(/[\\%_]/g, '\\$&');
  return operator.endsWith('startswith') ? `${literal}%` : `%${literal}%`;
}

function toValue({ type, members }: Operand, { text, position }: FilterValue): unknown {
  if (members) return toMember(members, text, position);
  if (type === 'number' && !NUMBER.test(text))
    throw fault(position, `the value must be a decimal number such as 12 or -1.5, got ${JSON.stringify(text)}`);
  if (type === 'boolean' && !BOOLEAN.test(text))
    throw fault(position, `the value must be true or false, got ${JSON.stringify(text)}`);
  return text;
}

function toMember(members: Readonly<Record<string, number>>, text: string, position: number): number {
  const byName = Object.entries(members).find(([name]) => name.toLowerCase() === text.toLowerCase());
  const byNumber = Object.values(members).find((number) => String(number) === text);
  const member = byName?.[1] ?? byNumber;
  if (member === undefined)
    throw fault(position, `the value must be one of ${Object.keys(members).join(', ')}, got ${JSON.stringify(text)}`);
  return member;
}

/**
 * @returns the SQL type that the value is cast to for the comparison. It is `int` for an integer of at most nine digits, so that the
 * index of an id column can be used.
 */
function sqlType({ type, members }: Operand, { text }: FilterValue): string {
  if (type === 'number' && (members || INTEGER.test(text))) return 'int';
  return { text: 'text', number: 'numeric', boolean: 'boolean', texts: 'text[]', json: 'text' }[type];
}

function fault(position: number, message: string): DomainError {
  const placed = `at position ${position}: ${message}`;
  return new DomainError('invalid_input', `${PARAMETER} ${placed}`, [{ path: `query.${PARAMETER}`, message: placed }]);
}
