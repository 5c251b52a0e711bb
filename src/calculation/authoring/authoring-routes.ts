/**
 * Routes for authors of scripts: packages, validate, evaluate, sampleData (R-H4, R-H9). A USER is refused, because a
 * saved declaration can have inputs that the USER is not allowed to read.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { type CallerEnv, requireRole } from '../../identity/authentication/authenticate.ts';
import type { Caller } from '../../identity/caller/caller.ts';
import { readReach } from '../../identity/caller/site-reach.ts';
import type { ParsedMoment } from '../../platform/dates/date-rules.ts';
import { setDateZones } from '../../platform/dates/date-zone-header.ts';
import { formatInstant } from '../../platform/dates/instant-rules.ts';
import { DomainError, type ErrorDetail } from '../../platform/errors.ts';
import { readJsonBody } from '../../platform/http/http-body.ts';
import {
  enumerationSchema,
  invalidInput,
  lenientObject,
  momentSchema,
  parseInput,
} from '../../platform/http/lenient.ts';
import { declareQuery } from '../../platform/http/query.ts';
import { momentParameter, numberedFrom0 } from '../../platform/http/query-parameters.ts';
import { formatOptional, setDateZone, settleMoments } from '../../selection/date-zone.ts';
import { listNames } from '../../structure/forms/form-validator.ts';
import { getResource, type ResourceObject } from '../../structure/resource.ts';
import { parsePathId } from '../../structure/resource-routes.ts';
import { VARIABLE } from '../../structure/variable.ts';
import { findReferenceProblems } from '../declaration/check-references.ts';
import {
  DECLARATION_SCHEMA,
  type Declaration,
  hasScript,
  SAVED_DECLARATION_SCHEMA,
} from '../declaration/declaration.ts';
import { checkDeclaration } from '../declaration/save-declaration.ts';
import { settleDeclaration } from '../declaration/settle-declaration.ts';
import { type Asker, askCalculator } from './ask-calculator.ts';
import { findPartialPeriods } from './find-partial-periods.ts';
import type { PreviewDates, ValidateAnswer } from './preview-task.ts';

const ROOT = '$.calculated';
const PATH = '/sources/:sourceId/variables/:id/calculated';

/** The dates of a preview, as members of a request body. */
const datesShape = {
  from: momentSchema.nullish(),
  to: momentSchema.nullish(),
  triggerDate: momentSchema.nullish(),
};
/** Body of `validate` and `evaluate`. */
export const previewSchema = lenientObject({
  ...datesShape,
  /** A declaration to use instead of the saved one. */
  calculated: z.unknown().optional(),
  pictures: enumerationSchema(numberedFrom0(['svg', 'png'])).default('svg'),
});

export const SAMPLE_QUERY = declareQuery({
  from: momentParameter(
    'Start (inclusive) of the range of dates that count as changed. Default: the value of `to`. A date without a zone is local time of the source.',
  ),
  to: momentParameter(
    'End (inclusive) of the range of dates that count as changed. Default: the value of `from`; when `from` is missing too, the newest date of the inputs, or now when the inputs have no points. If points of an input were deleted, its newest date may be later than the date of its newest remaining point.',
  ),
  triggerDate: momentParameter(
    'The `triggerDate` that the script gets. If the formula is not valid at this date, the script gets the nearest date at which it is valid. Default: the value of `to`.',
  ),
});

/** Routes for authors: packages, validate, evaluate, sampleData (R-H4, R-H9). */
export function authoringRoutes(asker: Asker): Hono<CallerEnv> {
  const manager = requireRole('MANAGER');
  return new Hono<CallerEnv>()
    .get('/calculated/packages', manager, async (c) => {
      const question = { accountId: c.var.caller.accountId, variableId: null, task: { kind: 'packages' } } as const;
      const { answer } = await askCalculator(asker, question, c.req.raw.signal);
      if (answer?.packages) return c.json(answer.packages);
      throw new DomainError(
        'dependency_unavailable',
        String(answer?.error ?? 'the calculator answered without a list of packages; try again'),
      );
    })
    .post(`${PATH}/validate`, manager, async (c) => {
      const variable = await findVariable(asker, c, c.var.caller);
      const { calculated = variable.calculated } = parseInput(previewSchema, await readBody(c));
      const settled = await settleDeclaration(asker.database, variable.sourceId, calculated);
      setDateZones(c, settled.dateZones);
      return c.json(await validate(asker, c, variable.id, settled.calculated));
    })
    .post(`${PATH}/evaluate`, manager, async (c) => {
      const variable = await findVariable(asker, c, c.var.caller);
      const { calculated, pictures, ...dates } = parseInput(previewSchema, await readBody(c));
      const settled = await settleDeclaration(asker.database, variable.sourceId, calculated);
      const declaration = calculated === undefined ? undefined : await readDeclaration(asker, c, settled.calculated);
      setDateZones(c, settled.dateZones);
      const settledDates = await settleDates(asker, c, variable, dates, refuseInBody);
      const task = { kind: 'evaluate', dates: settledDates, pictures, ...(declaration && { declaration }) } as const;
      const question = { accountId: c.var.caller.accountId, variableId: variable.id, task };
      return c.json((await askCalculator(asker, question, c.req.raw.signal)).answer ?? {});
    })
    .get(`${PATH}/sampleData`, manager, async (c) => {
      const variable = await findVariable(asker, c, c.var.caller);
      const given = SAMPLE_QUERY.parse(c.req.url);
      const dates = await settleDates(asker, c, variable, given, (rule) => SAMPLE_QUERY.error('from', rule));
      const task = { kind: 'sampleData', dates } as const;
      const question = { accountId: c.var.caller.accountId, variableId: variable.id, task };
      const { file, answer } = await askCalculator(asker, question, c.req.raw.signal);
      if (!file) throw new DomainError('conflict', String(answer?.error ?? 'the variable has no sample data'));
      return c.body(new Uint8Array(file), 200, {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="sampleData-${variable.id}.rdata"`,
      });
    });
}

/**
 * @returns the variable that the path names by `:id` and `:sourceId`.
 * @throws {DomainError} not_found when the source does not have this variable or the caller may not see it.
 */
export async function findVariable(
  { database }: Pick<Asker, 'database'>,
  c: Context,
  caller: Caller,
): Promise<ResourceObject> {
  const [id, sourceId] = [parsePathId(c, 'id'), parsePathId(c, 'sourceId')];
  const variable = await getResource(database, VARIABLE, caller, id);
  if (variable.sourceId === sourceId) return variable;
  throw new DomainError('not_found', `source ${sourceId} has no variable ${id}`);
}

async function readBody(c: Context<CallerEnv>): Promise<unknown> {
  const hasBody = c.req.raw.body !== null && c.req.header('content-type') !== undefined;
  return hasBody ? readJsonBody(c.req.raw) : {};
}

/** @throws {DomainError} invalid_input, which lists the first 100 problems. */
async function readDeclaration(asker: Asker, c: Context<CallerEnv>, calculated: unknown): Promise<Declaration> {
  const declaration = parseInput(DECLARATION_SCHEMA, calculated, ROOT);
  const formulas = declaration.calculatedVariableFormulas;
  const reader = { accountId: c.var.caller.accountId, reach: readReach(c.var.caller) };
  const problems = await findReferenceProblems(asker.database, reader, formulas, ROOT);
  if (problems.length > 0) throw invalidInput(problems);
  return declaration;
}

interface Problem extends ErrorDetail {
  /** Number of the script line that has the problem; the first line is 1. */
  readonly line?: number;
}

/**
 * Checks the declaration as if the variable had no saved declaration. So an input that no longer exists is a problem,
 * even if the saved declaration has this input. If the declaration fits the schema, also reports syntax errors and
 * warnings. Saves nothing and does not run the script.
 */
async function validate(asker: Asker, c: Context<CallerEnv>, variableId: number, calculated: unknown) {
  const problems: Problem[] = [...(await findSavingProblems(asker, c, variableId, calculated))];
  const parsed = DECLARATION_SCHEMA.safeParse(calculated ?? {});
  if (!parsed.success) return { isValid: false, problems, warnings: [] };
  const formulas = parsed.data.calculatedVariableFormulas;
  const scripts = formulas.map((formula) => (hasScript(formula) ? (formula.formula ?? null) : null));
  const task = { kind: 'validate', scripts } as const;
  const question = { accountId: c.var.caller.accountId, variableId, task };
  const { answer } = await askCalculator(asker, question, c.req.raw.signal);
  const { problems: found, names, buckets } = answer as unknown as ValidateAnswer;
  for (const { formula, message, line } of found) {
    problems.push({ path: `${locationOf(formula)}.formula`, message, ...(line !== null && { line }) });
  }
  const warnings = formulas.flatMap((formula, index) => {
    const [read = [], path] = [names[index], locationOf(index)];
    return [...findUndeclared(formula, read, path), ...findPartialPeriods(formula, read, buckets[index] ?? [], path)];
  });
  return { isValid: problems.length === 0, problems, warnings };
}

function locationOf(formula: number): string {
  return `${ROOT}.calculatedVariableFormulas[${formula}]`;
}

/** Finds the problems that would prevent saving this declaration if the variable had no saved declaration. */
async function findSavingProblems(
  { database }: Asker,
  c: Context<CallerEnv>,
  variableId: number,
  calculated: unknown,
): Promise<readonly ErrorDetail[]> {
  try {
    const declaration = parseInput(SAVED_DECLARATION_SCHEMA, calculated ?? {}, ROOT);
    await checkDeclaration(database, c.var.caller, variableId, declaration);
  } catch (error) {
    if (error instanceof DomainError) return error.details ?? [{ path: ROOT, message: error.message }];
    throw error;
  }
  return [];
}

/** Warns of names that the script reads but the formula does not declare. */
function findUndeclared(
  { variables, entities, constants }: Declaration['calculatedVariableFormulas'][number],
  names: readonly string[],
  path: string,
): ErrorDetail[] {
  const declared = [
    ...variables.map(({ alias }) => `inputVariables$${alias}`),
    ...entities.map(({ alias }) => `inputForms$${alias}`),
    ...constants.map(({ alias }) => `inputConstants$${alias}`),
  ];
  return names.flatMap((name) => {
    if (declared.includes(name)) return [];
    const list = name.slice(0, name.indexOf('$') + 1);
    const known = declared.flatMap((other) => (other.startsWith(list) ? other.slice(list.length) : []));
    return [{ path, message: `${name} is not declared; this formula declares ${listNames(known)}` }];
  });
}

/** Dates of a preview as a client gave them in the body or the query of a request. */
type GivenDates = Readonly<Partial<Record<keyof typeof datesShape, ParsedMoment | null | undefined>>>;

/** @returns the error for an invalid `from` in a request body. */
const refuseInBody = (message: string): DomainError => invalidInput([{ path: '$.from', message }]);

/**
 * Converts the dates of a preview to instants. A date without a zone is local time of the variable's source (R-A11).
 * @param refuse function that returns the error to throw for an invalid `from`.
 * @throws {DomainError} invalid_input when `from` is later than `to`.
 */
async function settleDates(
  { database }: Asker,
  c: Context<CallerEnv>,
  { id }: ResourceObject,
  given: GivenDates,
  refuse: (message: string) => DomainError,
): Promise<PreviewDates> {
  const { instants, dateZone } = await settleMoments(database, c.var.caller, { variableIds: [id] }, given);
  const { from, to, triggerDate } = instants;
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse(`must not be later than "to" (${formatInstant(to)}), got ${formatInstant(from)}`);
  }
  setDateZone(c, dateZone);
  return { from: formatOptional(from), to: formatOptional(to), triggerDate: formatOptional(triggerDate) };
}
