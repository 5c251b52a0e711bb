/** customFilter: comparison with a naive evaluator, hostile texts, and limits of filters (R-C10, R-A14). */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { Hono, type MiddlewareHandler } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDeclarations } from '../../../src/calculation/declaration/save-declaration.ts';
import { errorHandler } from '../../../src/http/error-response.ts';
import type { CallerEnv } from '../../../src/identity/authentication/authenticate.ts';
import { withTransaction } from '../../../src/platform/database/database.ts';
import type { RequestIdEnv } from '../../../src/platform/http/request-id.ts';
import { createLog } from '../../../src/platform/log.ts';
import { compileFilter } from '../../../src/structure/filter/custom-filter.ts';
import { limitFilterTime } from '../../../src/structure/filter/filter-time.ts';
import { SITE } from '../../../src/structure/site.ts';
import { SOURCE } from '../../../src/structure/source.ts';
import { structureRoutes } from '../../../src/structure/structure-routes.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  /** Text that consists only of the letters a and b. The order of such texts is the same in every collation. */
  readonly serialNumber: string | null;
  readonly energyTypeId: number | null;
  readonly tags: readonly string[];
  readonly clientData: { readonly Form: { readonly A?: string | number | boolean | null } };
  readonly siteName: string;
}

const TEXTS = ['a', 'A', 'ab', 'b%', '_b', "a'b", '\\a', 'a b', '5', '-1.5', 'true', 'Ab"', '{a}'];
const ORDERED = ['a', 'b', 'ab', 'ba', 'bb'];
const NUMBERS = [-1, 0, 1, 2, 5];

let api: TestApi;
let rows: readonly Row[];
beforeAll(async () => {
  api = await startTestApi();
  const anyOf = <Value>(values: readonly Value[]) => fc.constantFrom(...values);
  const made = fc.sample(
    fc.record({
      name: anyOf(TEXTS),
      serialNumber: anyOf([...ORDERED, null]),
      energyTypeId: anyOf([0, 1, 2, 5, null]),
      tags: fc.array(anyOf(TEXTS), { maxLength: 3 }),
      clientData: fc.record({
        Form: fc.record({ A: anyOf([...ORDERED, ...NUMBERS, 2.5, true, null, undefined]) }, { requiredKeys: [] }),
      }),
      siteName: anyOf(['North', 'a%b']),
    }),
    { numRuns: 60, seed: 7 },
  );
  const { rows: stored } = await api.database.query<Row>(
    `with site as (insert into site (account_id, name, time_zone_id) select $1, name, 'UTC' from unnest(array['North', 'a%b']) name
                   returning id, name)
     insert into source (account_id, site_id, name, serial_number, energy_type_id, tags, client_data)
     select $1, site.id, given.name, "serialNumber", "energyTypeId", tags, "clientData"
     from jsonb_to_recordset($2::jsonb) given (name text, "serialNumber" text, "energyTypeId" int, tags text[],
                                               "clientData" jsonb, "siteName" text)
     join site on site.name = given."siteName"
     returning id, name, serial_number as "serialNumber", energy_type_id as "energyTypeId", tags, client_data as "clientData",
       (select site.name from site where site.id = site_id) as "siteName"`,
    [api.accountId, JSON.stringify(made)],
  );
  rows = stored;
});
afterAll(() => api?.close());

type Operator = '=' | '<>' | '>' | '>=' | '<' | '<=' | '~' | '!~' | 'startswith' | '!startswith';
interface Comparison {
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
  readonly isQuoted: boolean;
}
type Tree = Comparison | { readonly kind: 'and' | 'or' | 'site'; readonly parts: readonly Tree[] };

const PATTERNS: readonly Operator[] = ['~', '!~', 'startswith', '!startswith'];
const EQUAL: readonly Operator[] = ['=', '<>'];
const ORDER: readonly Operator[] = ['>', '>=', '<', '<='];
const comparisonOf = (
  field: string,
  operators: readonly Operator[],
  values: readonly (string | number)[],
  isQuoted: boolean,
): fc.Arbitrary<Tree> =>
  fc.record({
    field: fc.constant(field),
    operator: fc.constantFrom(...operators),
    value: fc.constantFrom(...values).map(String),
    isQuoted: fc.constant(isQuoted),
  });
const sourceComparison = fc.oneof(
  comparisonOf('name', [...EQUAL, ...PATTERNS], TEXTS, true),
  comparisonOf('serialNumber', [...EQUAL, ...ORDER, ...PATTERNS], ORDERED, true),
  comparisonOf('energyTypeId', [...EQUAL, ...ORDER], NUMBERS, false),
  comparisonOf('tags', [...EQUAL, ...PATTERNS], TEXTS, true),
  comparisonOf('siteName', [...EQUAL, ...PATTERNS], ['North', 'nor', 'a%b', '%'], true),
  comparisonOf('Form.A', [...EQUAL, ...PATTERNS], [...ORDERED, 'true', '5', '2.5'], true),
  comparisonOf('clientData.Form.A', [...EQUAL, ...ORDER], [...NUMBERS, 2.5], false),
  comparisonOf('Form.Missing', [...EQUAL, ...PATTERNS], ['a'], true),
);
const siteComparison = comparisonOf('name', [...EQUAL, ...PATTERNS], ['North', 'NOR', 'a%b', '_', '%'], true);
const { tree } = fc.letrec<{ tree: Tree; branch: Tree; site: Tree }>((tie) => ({
  site: siteComparison.map((part) => ({ kind: 'site' as const, parts: [part] })),
  branch: fc.record({
    kind: fc.constantFrom('and' as const, 'or' as const),
    parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
  }),
  tree: fc.oneof({ maxDepth: 4 }, sourceComparison, tie('site'), tie('branch')),
}));

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
function write(node: Tree): string {
  if ('field' in node) {
    return `${node.field} ${node.operator} ${node.isQuoted ? quoted(node.value) : node.value}`;
  }
  if (node.kind === 'site') return `Site{${node.parts.map(write).join('')}}`;
  return `(${node.parts.map(write).join(` ${node.kind} `)})`;
}

/** Evaluates a filter by the rules of src/structure/filter/README.md, without SQL. */
function matches(node: Tree, row: Row): boolean {
  if ('field' in node) return compare(node, row);
  if (node.kind === 'site') return node.parts.every((part) => matches(part, { ...row, name: row.siteName }));
  return node.kind === 'and'
    ? node.parts.every((part) => matches(part, row))
    : node.parts.some((part) => matches(part, row));
}

function compare({ field, operator, value, isQuoted }: Comparison, row: Row): boolean {
  if (field === 'tags') {
    const isNegated = operator === '<>' || operator.startsWith('!');
    return row.tags.some((tag) => isMatch(operator, tag, value)) !== isNegated;
  }
  if (field === 'energyTypeId') return isOrdered(operator, row.energyTypeId, Number(value));
  if (field.endsWith('Form.A') && !isQuoted && !EQUAL.includes(operator)) {
    const number = row.clientData.Form.A;
    return isOrdered(operator, typeof number === 'number' ? number : null, Number(value));
  }
  const text = textOf(field, row);
  if (EQUAL.includes(operator) || ORDER.includes(operator)) return isOrdered(operator, text, value);
  return (text !== null && isMatch(operator, text, value)) !== operator.startsWith('!');
}

function textOf(field: string, row: Row): string | null {
  if (field === 'name' || field === 'serialNumber' || field === 'siteName') return row[field];
  const value = field === 'Form.Missing' ? null : row.clientData.Form.A;
  return value === null || value === undefined ? null : String(value);
}

/** @returns whether `text` matches `value`. A negated operator is treated as its positive form: `!~` as `~`. */
function isMatch(operator: Operator, text: string, value: string): boolean {
  if (EQUAL.includes(operator)) return text === value;
  const [whole, part] = [text.toLowerCase(), value.toLowerCase()];
  return operator.endsWith('startswith') ? whole.startsWith(part) : whole.includes(part);
}

function isOrdered<Value extends string | number>(operator: Operator, own: Value | null, value: Value): boolean {
  if (operator === '<>') return own !== value;
  if (own === null) return false;
  return { '=': own === value, '>': own > value, '>=': own >= value, '<': own < value, '<=': own <= value }[
    operator as '=' | '>' | '>=' | '<' | '<='
  ];
}

async function find(filter: string): Promise<readonly number[]> {
  const values: unknown[] = [];
  const condition = compileFilter(filter, SOURCE, SITE, values);
  const found = await api.database.query<{ id: number }>(
    `select source.id from ${SOURCE.from} where ${condition} order by source.id`,
    values,
  );
  return found.rows.map(({ id }) => id);
}

describe('customFilter: compared with a naive evaluator (R-C10)', () => {
  test('the filter selects the same rows as the evaluator, for random trees of comparisons', async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (node) => {
        const expected = rows.filter((row) => matches(node, row)).map(({ id }) => id);
        expect(await find(write(node)), write(node)).toEqual(expected.sort((a, b) => a - b));
      }),
      { numRuns: Number(process.env.FILTER_RUNS ?? 300) },
    );
  });
});

const HOSTILE = [
  ...[
    "'; drop table site; --",
    "' or '1'='1",
    "') or true --",
    "''",
    "'''",
    '$1',
    '$1::text',
    '\\',
    "\\'",
    '%',
    '_',
    '%%%',
  ],
  ...[
    '/* */',
    '--',
    ';',
    '||',
    '::int',
    'null',
    'NaN',
    '1e999',
    '0x27',
    '\u02bc or 1=1',
    '\u2019',
    '\uff07',
    '{}',
    'Site{',
  ],
  ...[
    '}',
    '__proto__',
    'constructor',
    'pg_sleep(10)',
    'process.env.PATH',
    "a' union select password_hash from app_user --",
  ],
  ...['\u202e', '\ud83d\ude00', 'x'.repeat(3000)],
];

/** Formats a hostile text for the title of a test: in ASCII, and shortened if it is long. */
const shown = (text: string): string => {
  const ascii = JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return ascii.length > 60 ? `${ascii.slice(0, 10)}… (${text.length} characters)` : ascii;
};

describe('customFilter: hostile texts', () => {
  test.each(HOSTILE.map((text) => [shown(text), text] as const))(
    'the value %s is compared as text and is not parsed',
    async (_title, text) => {
      await api.database.query('update source set name = $2 where id = $1', [rows[0]?.id, text]);
      expect(await find(`name = ${quoted(text)}`)).toContain(rows[0]?.id);
      expect(await find(`name ~ ${quoted(text)} and name startswith ${quoted(text)}`)).toContain(rows[0]?.id);
      expect(await find(`Form.${quoted(text)} = ${quoted(text)} or tags = ${quoted(text)}`)).toEqual([]);
      await api.database.query('update source set name = $2 where id = $1', [rows[0]?.id, rows[0]?.name]);
    },
  );

  test('a hostile text used as the entire filter, a field, an operator or a bare value is either accepted or refused with the position of the error', async () => {
    const texts = [...HOSTILE, 'a\u0000b', '\ud800', "name = '\u0000'", "name = 'a"];
    const filters = texts.flatMap((text) => [
      text,
      `${text} = 1`,
      `name ${text} 1`,
      `name = ${text}`,
      `name = 1 ${text}`,
    ]);
    const answers = await Promise.all(
      filters.map((filter) =>
        api.manager.get<{ message: string }>(
          `/sources?itemsPerPage=5&customFilter=${encodeURIComponent(filter.toWellFormed())}`,
        ),
      ),
    );
    for (const [index, { status, body }] of answers.entries()) {
      if (status === 200) continue;
      expect(body, filters[index]).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/^customFilter at position \d+: /),
      });
      expect(status).toBe(400);
    }
    const left = await api.database.query('select from source where account_id = $1', [api.accountId]);
    expect(left.rowCount).toBe(rows.length);
  });
});

describe('customFilter: bounds (R-A14)', () => {
  const refusal = (filter: string) => () => compileFilter(filter, SOURCE, SITE, []);

  test('the numbers of characters, comparisons and nesting levels are limited', () => {
    const comparisons = (count: number) => Array.from({ length: count }, () => 'id=1').join(' or ');
    const nested = (depth: number) => `${'('.repeat(depth)}id=1${')'.repeat(depth)}`;
    for (const filter of [comparisons(200), nested(50), `name = '${'x'.repeat(9_900)}'`])
      expect(refusal(filter)).not.toThrow();
    expect(refusal(comparisons(201))).toThrow('must have at most 200 comparisons');
    expect(refusal(nested(51))).toThrow('must be nested at most 50 levels deep');
    expect(refusal(nested(4_000))).toThrow('must be nested at most 50 levels deep');
    expect(refusal(`name = '${'x'.repeat(10_000)}'`)).toThrow('must have at most 10000 characters, got 10009');
  });

  test('when a query takes too long, the database stops the query and the customFilter is refused', async () => {
    const slow = limitFilterTime(api.parts.database, 50).query('select pg_sleep(20)');
    await expect(slow).rejects.toMatchObject({
      code: 'invalid_input',
      message:
        'customFilter took longer than 0.05 s; use fewer comparisons, or select fewer resources with a parameter such as siteIds',
    });
    const left = await api.database.query(
      `select from pg_stat_activity where state = 'active' and query = 'select pg_sleep(20)' and datname = current_database()`,
    );
    expect(left.rowCount).toBe(0);
  });

  test('when the first cancellation comes before the query reaches the database, the query is cancelled again about one second later', async () => {
    const { database } = api.parts;
    const connect = async () => {
      const connection = await database.connect();
      const send = connection.query.bind(connection);
      const sendLate = async (text: string) => {
        await pause(300);
        return send(text);
      };
      return Object.assign(connection, { query: sendLate });
    };
    const delayed = Object.assign(Object.create(database), { connect, query: database.query.bind(database) });
    const slow = limitFilterTime(delayed, 50).query('select pg_sleep(20)');
    await expect(slow).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('when the query of a listing of variables takes too long, the listing is refused and the database stops the query; this applies to paged and whole listings, with or without a total (R-C10)', async () => {
    const caller = await api.parts.authentication.callers(
      await api.parts.authentication.verifier(api.manager.token ?? ''),
    );
    const identify: MiddlewareHandler<CallerEnv> = (c, next) => {
      c.set('caller', caller);
      return next();
    };
    const app = new Hono<RequestIdEnv>();
    app.use('*', identify);
    app.onError(errorHandler(createLog('silent', 'test')));
    const { parts } = api;
    const declarations = openDeclarations(parts.database);
    app.route('/', structureRoutes({ ...parts, declarations, audit: async () => {}, maxFilterTimeMs: 100 }));
    const forms = ['displayLevel=Normal&itemsPerPage=9', 'displayLevel=Verbose&itemsPerPage=9', 'displayLevel=Verbose'];
    const totals = forms.map((form) => `${form}&includeItemsCount=true`);
    const found = await app.request("/variables?customFilter=name='a'&displayLevel=Verbose");
    expect(found.status).toBe(200);
    await withTransaction(
      api.database,
      async (transaction) => {
        await transaction.query('lock table variable in access exclusive mode');
        const answers = await Promise.all(
          [...forms, ...totals].map((form) => app.request(`/variables?customFilter=name='a'&${form}`)),
        );
        for (const answer of answers) {
          expect(await answer.json()).toMatchObject({
            code: 'invalid_input',
            message: expect.stringContaining('customFilter took longer than 0.1 s'),
          });
        }
        const waiting = await transaction.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        );
        expect(waiting.rowCount).toBe(0);
      },
      { idleTimeoutMs: 0 },
    );
  });
});
