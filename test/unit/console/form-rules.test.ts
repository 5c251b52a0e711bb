/** The console converts the definition and the values of a form to texts for editing, and back. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Form, toFormBody, toFormDraft } from '../../../src/console/settings/forms/form-draft.ts';
import { toChanges, toNumber, toTexts } from '../../../src/console/structure/fields.ts';
import { pathOf, toFormTexts, withFormTexts } from '../../../src/console/structure/form-rules.ts';

const field = { name: 'Power', type: 'Double', minimum: 0, maximum: 10, unitId: 7, isRequired: true } as const;
const list = {
  ...{ name: 'Tariff', type: 'Int', isList: true, isRequired: false },
  items: [{ value: 1, name: 'Day = night' }, { value: 2 }],
};
const FORM = {
  ...{ id: 1, name: 'Contract', entityType: 'Site', createdDate: '', modifiedDate: '' },
  groups: [{ name: 'Terms', fields: [field, list, { name: 'Green', type: 'Boolean', isRequired: false }] }],
} as unknown as Form;
const path = (name: string) => pathOf('Contract', 'Terms', name);

test.each([
  ['1,5', 1.5],
  ['0', 0],
  ['', ''],
  [' ', ' '],
  ['low', 'low'],
])(
  'console: %j typed in a number field is sent as %j (text that is a number is sent as a number, other text is sent unchanged)',
  (typed, sent) => {
    expect(toNumber(typed)).toBe(sent);
  },
);

describe('console forms: the definition of a form', () => {
  test('stays the same when it is converted to texts and back without an edit', () => {
    const { name, entityType, groups } = FORM;
    expect(toFormBody(toFormDraft(FORM))).toEqual({ name, entityType, groups });
  });

  test('keeps a text in a number field, so that the service can refuse the text', () => {
    const draft = toFormDraft(FORM);
    const [group] = draft.groups;
    const fields = group?.fields.map((each) => ({ ...each, minimum: 'low' })) ?? [];
    const body = toFormBody({ ...draft, groups: [{ name: 'Terms', fields }] });
    expect(body.groups[0]?.fields[0]).toMatchObject({ minimum: 'low' });
  });
});

describe('console forms: values', () => {
  test('stay the same when they are converted to texts and back without an edit, whatever clientData holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'Contract', 'b'), fc.jsonValue()), (clientData) => {
        const texts = toFormTexts([FORM], clientData);
        expect(withFormTexts([FORM], clientData, texts, texts)).toEqual(clientData);
      }),
    );
  });

  test('only the fields that the user edited change; other members of clientData stay as they were', () => {
    const clientData = { free: 1, Contract: { Terms: { Power: 5, Green: true }, Old: { x: 1 } } };
    const saved = toFormTexts([FORM], clientData);
    const texts = { ...saved, [path('Tariff')]: '2', [path('Green')]: '' };
    expect(withFormTexts([FORM], clientData, texts, saved)).toEqual({
      ...{ free: 1, Contract: { Terms: { Power: 5, Tariff: 2 }, Old: { x: 1 } } },
    });
  });

  test("when clientData holds a string under the form's name, new values of the form replace the string", () => {
    const texts = { [path('Power')]: '5' };
    expect(withFormTexts([FORM], { Contract: 'none' }, texts, {})).toEqual({ Contract: { Terms: { Power: 5 } } });
  });

  test('disappear from clientData when the user empties the fields; a group or form that becomes empty disappears too', () => {
    const clientData = { Contract: { Terms: { Power: 5 } } };
    const saved = toFormTexts([FORM], clientData);
    expect(withFormTexts([FORM], clientData, { [path('Power')]: ' ' }, saved)).toEqual({});
  });
});

describe('console structure: a save', () => {
  test('sends only the changed members; sends null for an emptied field, but omits an emptied time zone of a site', () => {
    const saved = toTexts('Site', { name: 'Mill', city: 'Ghent', timeZoneId: 'Europe/Brussels', typeId: 3 });
    const texts = { ...saved, city: ' ', timeZoneId: '', typeId: '4' };
    expect(toChanges('Site', texts, saved)).toEqual({ city: null, typeId: 4 });
  });

  test('accepts a number with a decimal comma; in the field for tags, a comma separates two tags', () => {
    const divider = toChanges('Variable', { ...toTexts('Variable', {}), divider: '0,5' }, toTexts('Variable', {}));
    expect(divider).toEqual({ divider: 0.5 });
    const tags = toChanges('Source', { ...toTexts('Source', {}), tags: 'a, b c,, ' }, toTexts('Source', {}));
    expect(tags).toEqual({ tags: ['a', 'b c'] });
  });
});
