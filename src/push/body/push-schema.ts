/**
 * The zod schema of a push. OpenAPI is generated from it, and the property test of `parsePush` compares `parsePush`
 * with it. The schema is much slower than `parsePush`, so no pushed body goes through it.
 */
import { z } from 'zod';
import { DATE_RULE } from '../../platform/dates/date-rules.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import { MAX_INT4, MAX_TEXT } from '../../platform/limits.ts';
import { MAX_TAGS, MAX_VERSION, type Tags } from '../../points/label-rules.ts';
import { FORBIDDEN, ID_IDENTIFIERS, TEXT_IDENTIFIERS } from './push-element.ts';
import {
  FORBIDDEN_RULE,
  got,
  ID_RULE,
  isText,
  mustBe,
  TEXT_RULE,
  tagProblem,
  textRule,
  toDate,
  toId,
  toNumber,
  tooManyTags,
} from './push-messages.ts';

const withRule = (rule: string) => ({
  error: (issue: { readonly input?: unknown }) => got(rule, issue.input ?? undefined),
});
const absent = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

const forbidden = z
  .custom<undefined>((value) => value === undefined || value === null, FORBIDDEN_RULE)
  .meta({ type: 'null', description: 'Must not be sent: the service takes it from the token.' })
  .optional();

const id = z
  .custom<number | string>((value) => {
    const number = toId(value);
    return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_INT4;
  }, withRule(ID_RULE))
  .meta({ type: 'integer', minimum: 0, maximum: MAX_INT4 })
  .transform(Number)
  .nullish()
  .transform(absent);

const identifier = z
  .custom<string | number>(
    (value) => isText(typeof value === 'number' ? String(value) : value, MAX_TEXT),
    withRule(TEXT_RULE),
  )
  .meta({ type: 'string', maxLength: MAX_TEXT })
  .transform(String)
  .nullish()
  .transform(absent);

const version = z
  .custom<string>((value) => isText(value, MAX_VERSION), withRule(textRule(MAX_VERSION)))
  .meta({
    type: 'string',
    maxLength: MAX_VERSION,
    description: 'VersionTag. The VersionTag of a reading takes precedence over the VersionTag of its element.',
  })
  .nullish()
  .transform((text) => text || undefined);

const tags = z
  .custom<Readonly<Record<string, unknown>>>((value) => typeof value === 'object' && !Array.isArray(value), {
    error: (issue) => mustBe('an object of strings', issue.input),
  })
  .meta({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: MAX_TEXT },
    propertyNames: { maxLength: MAX_VERSION },
    maxProperties: MAX_TAGS,
    description:
      'Labels. A reading also gets the tags of its element. If both have a tag with the same key, the tag of the element wins.',
  })
  .transform((object, context) => {
    const entries = Object.entries(object).filter(([, value]) => value !== null);
    if (entries.length > MAX_TAGS) context.addIssue({ code: 'custom', message: tooManyTags(entries.length) });
    for (const [key, value] of entries) {
      const message = tagProblem(key, value);
      const path = isText(key, MAX_VERSION) ? [key] : [];
      if (message !== undefined) context.addIssue({ code: 'custom', path, message });
    }
    return Object.fromEntries(entries) as Tags;
  })
  .nullish()
  .transform(absent);

const anObject = { error: (issue: { readonly input?: unknown }) => mustBe('an object', issue.input) };

const reading = lenientObject(
  {
    date: z
      .custom<string | number>((value) => toDate(value) !== undefined, withRule(DATE_RULE))
      .meta({
        type: ['string', 'integer'],
        description:
          'ISO 8601 text no finer than microseconds, or epoch milliseconds as a number of 12 or 13 digits. Text without an offset is in the time zone of the source.',
        examples: ['2026-03-01T00:15:00Z', '2026-03-01T00:15:00+01:00', '2026-03-01 00:15:00', 1_772_324_100_000],
      })
      .transform((value) => toDate(value)),
    value: z
      .custom<number | string>((value) => {
        const number = toNumber(value);
        return typeof number === 'number' && Number.isFinite(number);
      }, withRule('must be a finite number'))
      .meta({
        type: 'number',
        description: "The value is divided by the variable's `divider` (default: 1) before it is stored.",
      })
      .transform(Number),
    version,
    tags,
  },
  anObject,
).meta({ id: 'PushReading' });

const element = lenientObject(
  {
    ...(Object.fromEntries(FORBIDDEN.map((name) => [name, forbidden])) as Record<
      (typeof FORBIDDEN)[number],
      typeof forbidden
    >),
    ...(Object.fromEntries(ID_IDENTIFIERS.map((name) => [name, id])) as Record<
      (typeof ID_IDENTIFIERS)[number],
      typeof id
    >),
    ...(Object.fromEntries(TEXT_IDENTIFIERS.map((name) => [name, identifier])) as Record<
      (typeof TEXT_IDENTIFIERS)[number],
      typeof identifier
    >),
    version,
    tags,
    data: z.array(reading, { error: (issue) => mustBe('an array of readings', issue.input ?? undefined) }),
  },
  anObject,
).meta({ id: 'PushElement' });

/** Schema of the body of `POST /api/data` (§2, R-D2–R-D4). */
export const pushSchema = z.array(element, { error: (issue) => mustBe('an array of push elements', issue.input) });
