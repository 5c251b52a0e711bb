/**
 * Checks the values of a form in clientData against a JSON Schema made from the definition of the form. clientData may
 * omit a form. If it has values of a form, the required fields of the form must have values; other fields, and groups
 * without required fields, may be absent. A group or field that the form does not define is a problem.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { openBoundedCache } from '../../platform/bounded-cache.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { showValue } from '../../platform/http/lenient.ts';
import { type Form, type FormField, isIsoDate, TYPE_RULES } from './form-definition.ts';

/** A problem with a value; `keys` is the path of the value within clientData. */
export interface FormProblem {
  readonly keys: readonly string[];
  readonly message: string;
}

type Members = Readonly<Record<string, unknown>>;
type Definition = Pick<Form, 'name' | 'groups'>;

const ISO_DATE = 'iso-date';
/** Maximum number of problems that are reported for one form. */
const MAX_PROBLEMS = 100;
const MAX_NAMES = 20;

// Ajv need not validate the schemas, because this file builds them. The optimization of generated code is off, because
// it lengthens compilation.
const ajv = new Ajv({
  ...{ allErrors: true, verbose: true, messages: false, strict: true, allowUnionTypes: true, ownProperties: true },
  ...{ validateSchema: false, code: { optimize: false } },
});
ajv.addFormat(ISO_DATE, { type: 'string', validate: isIsoDate });

/**
 * Compiled schemas, by the JSON of the form's groups. Compiling the schema of a form with 300 fields takes 36 ms;
 * checking values against it takes 0.1 ms (CPU time, measured 2026-11).
 */
const compiled = openBoundedCache<string, ValidateFunction>(200);

/**
 * @param isWanted decides whether a problem of the value at `keys` is reported.
 * @returns the wanted problems of the values that `clientData` has for `form`, at most `MAX_PROBLEMS`; none when
 * `clientData` has no values for `form`.
 */
export function findFormProblems(
  form: Definition,
  clientData: Members,
  isWanted: (keys: FormProblem['keys']) => boolean,
): readonly FormProblem[] {
  const values = Object.hasOwn(clientData, form.name) ? clientData[form.name] : null;
  if (values === null || values === undefined) return [];
  const validate = validatorOf(form);
  if (validate(values)) return [];
  const problems: FormProblem[] = [];
  for (const error of validate.errors ?? []) {
    const keys = keysOf(form, error);
    // Calls `describe` only for wanted problems, because `describe` is slower than `keysOf` and there may be thousands
    // of other problems.
    if (isWanted(keys)) problems.push({ keys, message: describe(form, error) });
    if (problems.length === MAX_PROBLEMS) break;
  }
  return problems;
}

function validatorOf({ groups }: Definition): ValidateFunction {
  const key = JSON.stringify(groups);
  let validate = compiled.get(key);
  if (!validate) {
    validate = ajv.compile(toSchema(groups));
    // Without this call, Ajv would keep the schemas of all accounts. `compiled` keeps only a limited number.
    ajv.removeSchema(validate.schema);
    compiled.set(key, validate);
  }
  return validate;
}

function toSchema(groups: Definition['groups']): Members {
  const required = groups.filter(({ fields }) => fields.some(({ isRequired }) => isRequired)).map(({ name }) => name);
  return objectSchema(
    groups.map(({ name, fields }) => {
      const names = fields.filter(({ isRequired }) => isRequired).map((field) => field.name);
      const schema = objectSchema(
        fields.map((field) => [field.name, fieldSchema(field)] as const),
        names,
      );
      return [name, names.length > 0 ? schema : { ...schema, type: ['object', 'null'] }] as const;
    }),
    required,
  );
}

function objectSchema(properties: readonly (readonly [string, Members])[], required: readonly string[]): Members {
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function fieldSchema({ type, isList, items, isRequired, minimum, maximum }: FormField): Members {
  const range = { ...(minimum != null && { minimum }), ...(maximum != null && { maximum }) };
  const values = isList ? { enum: [...(items ?? []).map(({ value }) => value), ...(isRequired ? [] : [null])] } : {};
  const json = (name: string) => ({ type: isRequired ? name : [name, 'null'] });
  switch (type) {
    case 'String':
      return { ...json('string'), ...values };
    case 'Int':
      return { ...json('integer'), ...range, ...values };
    case 'Double':
      return { ...json('number'), ...range, ...values };
    case 'Boolean':
      return { ...json('boolean'), ...values };
    case 'Date':
      return { ...json('string'), format: ISO_DATE, ...values };
    default:
      return type satisfies never;
  }
}

/** @returns the path, within clientData, of the value that an error of ajv is about. */
function keysOf({ name }: Definition, { instancePath, keyword, params }: ErrorObject): readonly string[] {
  const keys = [name, ...instanceKeys(instancePath)];
  if (keyword === 'required') return [...keys, String(params.missingProperty)];
  return keyword === 'additionalProperties' ? [...keys, String(params.additionalProperty)] : keys;
}

/**
 * @returns the message for an error of ajv. The message states what the form allows, such as a limit, the fields of a
 * group or the items of a list.
 */
function describe({ name, groups }: Definition, { instancePath, keyword, params, data }: ErrorObject): string {
  const keys = instanceKeys(instancePath);
  const group = groups.find((one) => one.name === keys[0]);
  const field = group?.fields.find((one) => one.name === keys[1]);
  if (keyword === 'required') return 'is required';
  if (keyword === 'additionalProperties') {
    const known = (group?.fields ?? groups).map((one) => one.name);
    const kind = group ? `field of the group ${group.name}` : `group defined by the form ${name}`;
    return `is not a ${kind}; known names: ${listNames(known)}`;
  }
  return `${describeRule(field, keyword, params)}, got ${showValue(data)}`;
}

/** Splits a JSON pointer into its decoded reference tokens (RFC 6901 §4). */
function instanceKeys(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapePointer);
}

function describeRule(field: FormField | undefined, keyword: string, params: Members): string {
  if (!field) return 'must be an object';
  if (keyword === 'enum') return `must be one of ${listNames((field.items ?? []).map(nameItem))}`;
  if (keyword === 'minimum') return `must be at least ${params.limit}`;
  if (keyword === 'maximum') return `must be at most ${params.limit}`;
  return TYPE_RULES[field.type];
}

function nameItem({ name, value }: { readonly name?: string | null | undefined; readonly value: unknown }): string {
  const text = JSON.stringify(value);
  return name && name !== value ? `${text} (${name})` : text;
}

/** Lists at most `MAX_NAMES` names for an error message, and gives the number of the other names. */
export function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

/** Decodes the escapes in one reference token of a JSON pointer (RFC 6901 §4). */
function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * @returns the problem as an error detail, whose JSON path starts with `root`. A key that consists of letters, digits,
 * `_` and `-` is appended as `.key`, any other key as `["key"]`.
 */
export function toDetail(root: string, { keys, message }: FormProblem): ErrorDetail {
  const path = keys.reduce((text, key) => text + (/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`), root);
  return { path, message };
}
