/**
 * Converts form values (in `clientData` at `<form>.<group>.<field>`) to the texts that the page shows in the input
 * fields, and back. Pure.
 */
import type { components } from '../api/openapi.d.ts';
import { type Members, toNumber } from './fields.ts';

export type Form = components['schemas']['Form'];
export type FormField = Form['groups'][number]['fields'][number];

/** The texts in the inputs of form fields. `pathOf` makes the key of a field. A field without a text may be absent. */
export type FormTexts = Readonly<Record<string, string>>;

/** @returns the key of a field in `FormTexts`. */
export function pathOf(form: string, group: string, field: string): string {
  return JSON.stringify([form, group, field]);
}

/** @returns the text of every field that has a value. */
export function toFormTexts(forms: readonly Form[], clientData: Members | null | undefined): FormTexts {
  return Object.fromEntries(
    fieldsOf(forms).flatMap(({ path: [form, group, field], definition }) => {
      const value = memberOf(memberOf(memberOf(clientData, form), group), field);
      if (value === null || value === undefined) return [];
      return [[pathOf(form, group, field), definition.isList ? JSON.stringify(value) : String(value)] as const];
    }),
  );
}

/**
 * @returns clientData with new values for the fields whose text in `texts` differs from the text in `saved`. The other
 * members of clientData stay. A group or form that becomes empty is left out.
 */
export function withFormTexts(
  forms: readonly Form[],
  clientData: Members | null | undefined,
  texts: FormTexts,
  saved: FormTexts,
): Members {
  const result: Tree = structuredClone(clientData ?? {});
  for (const { path, definition } of fieldsOf(forms)) {
    const [form, group, field] = path;
    const typed = texts[pathOf(...path)] ?? '';
    if (typed === (saved[pathOf(...path)] ?? '')) continue;
    if (typed.trim() !== '') {
      branchOf(branchOf(result, form), group)[field] = toValue(definition, typed);
      continue;
    }
    const groups = branchOf(result, form);
    const values = branchOf(groups, group);
    delete values[field];
    if (Object.keys(values).length === 0) delete groups[group];
    if (Object.keys(groups).length === 0) delete result[form];
  }
  return result;
}

type Tree = Record<string, unknown>;

/** @returns the object in the member `name`. If the member holds no object, stores an empty object there first. */
function branchOf(parent: Tree, name: string): Tree {
  const value = parent[name];
  const branch: Tree = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {};
  parent[name] = branch;
  return branch;
}

function toValue({ type, isList }: FormField, typed: string): unknown {
  if (isList) return JSON.parse(typed) as unknown;
  if (type === 'Boolean') return typed === 'true';
  return type === 'Int' || type === 'Double' ? toNumber(typed.trim()) : typed;
}

interface Defined {
  readonly path: readonly [form: string, group: string, field: string];
  readonly definition: FormField;
}

function fieldsOf(forms: readonly Form[]): readonly Defined[] {
  return forms.flatMap((form) =>
    form.groups.flatMap((group) =>
      group.fields.map((definition): Defined => ({ path: [form.name, group.name, definition.name], definition })),
    ),
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Members)[name] : undefined;
}
