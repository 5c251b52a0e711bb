/** Pure functions that convert the definition of a form to a draft for the inputs of the editor, and back. */
import type { components } from '../../api/openapi.d.ts';
import { toNumber } from '../../structure/fields.ts';

export type Form = components['schemas']['Form'];
export const FIELD_TYPES = ['String', 'Int', 'Double', 'Boolean', 'Date'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface FieldDraft {
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly isRequired: boolean;
  readonly minimum: string;
  readonly maximum: string;
  readonly unitId: string;
  /** One choice per line: `value`, or `value = text`. */
  readonly choices: string;
}

export interface GroupDraft {
  readonly name: string;
  readonly fields: readonly FieldDraft[];
}

export interface FormDraft {
  readonly name: string;
  readonly entityType: Form['entityType'];
  readonly groups: readonly GroupDraft[];
}

export const NEW_FIELD: FieldDraft = {
  ...{ name: '', type: 'String', description: '', isRequired: false, minimum: '', maximum: '', unitId: '' },
  choices: '',
};
export const NEW_FORM: FormDraft = { name: '', entityType: 'Site', groups: [{ name: '', fields: [NEW_FIELD] }] };

const SEPARATOR = ' = ';

/** @returns the draft of a stored form. */
export function toFormDraft({ name, entityType, groups }: Form): FormDraft {
  return {
    name,
    entityType,
    groups: groups.map((group) => ({ name: group.name, fields: group.fields.map(toFieldDraft) })),
  };
}

type StoredField = Form['groups'][number]['fields'][number];

function toFieldDraft({
  name,
  type,
  description,
  isRequired,
  minimum,
  maximum,
  unitId,
  items,
}: StoredField): FieldDraft {
  const listed = (items ?? []) as readonly { readonly name?: string | null; readonly value: unknown }[];
  return {
    ...{ name, type, description: description ?? '', isRequired: isRequired ?? false },
    ...{ minimum: textOf(minimum), maximum: textOf(maximum), unitId: textOf(unitId) },
    choices: listed.map(({ name: text, value }) => (text ? `${value}${SEPARATOR}${text}` : String(value))).join('\n'),
  };
}

const textOf = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));

/** @returns the draft as a request body of the API. */
export function toFormBody({ name, entityType, groups }: FormDraft) {
  return {
    ...{ name: name.trim(), entityType },
    groups: groups.map((group) => ({ name: group.name.trim(), fields: group.fields.map(toField) })),
  };
}

function toField({ name, type, description, isRequired, minimum, maximum, unitId, choices }: FieldDraft) {
  const isNumber = type === 'Int' || type === 'Double';
  const items = choices
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => toItem(type, line));
  return {
    ...{ name: name.trim(), type, isRequired },
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(items.length > 0 && { isList: true, items }),
    ...(isNumber && minimum.trim() !== '' && { minimum: toNumber(minimum) }),
    ...(isNumber && maximum.trim() !== '' && { maximum: toNumber(maximum) }),
    ...(isNumber && unitId !== '' && { unitId: Number(unitId) }),
  };
}

function toItem(type: FieldType, line: string) {
  const at = line.indexOf(SEPARATOR);
  const [text, name] = at < 0 ? [line] : [line.slice(0, at).trim(), line.slice(at + SEPARATOR.length).trim()];
  const value = type === 'Int' || type === 'Double' ? toNumber(text) : type === 'Boolean' ? text === 'true' : text;
  return { value, ...(name && { name }) };
}

/** @returns a copy of `items` in which `item` replaces the item at `index`; an undefined `item` removes it. */
export function withAt<Item>(items: readonly Item[], index: number, item: Item | undefined): readonly Item[] {
  return items.flatMap((each, at) => (at !== index ? [each] : item === undefined ? [] : [item]));
}

/** @returns a copy of `items` in which the item at `index` is moved before its predecessor. */
export function movedUp<Item>(items: readonly Item[], index: number): readonly Item[] {
  const moved = [...items];
  const [item] = moved.splice(index, 1);
  if (item !== undefined) moved.splice(Math.max(index - 1, 0), 0, item);
  return moved;
}
