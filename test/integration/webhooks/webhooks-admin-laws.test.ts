/**
 * POST and PUT accept the body that GET returns for any webhook. A patch computed from the difference between two
 * webhooks makes the first equal to the second (rulings part C, R-I1, R-I6).
 */
import fc from 'fast-check';
import { createPatch } from 'rfc6902';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENT_TYPES, isFilterable } from '../../../src/webhooks/event-type.ts';
import { createStructure } from '../../support/fixtures/structure.ts';
import { createWebhook, type SeenWebhook } from '../../support/fixtures/webhooks.ts';
import { startTestApi, type TestApi } from '../../support/services/start-api.ts';

let api: TestApi;
let siteStructures: readonly Awaited<ReturnType<typeof createStructure>>[];
beforeAll(async () => {
  api = await startTestApi();
  siteStructures = [
    await createStructure(api.manager),
    await createStructure(api.manager),
    await createStructure(api.manager),
  ];
});
afterAll(() => api.close());

const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', minLength: 1, maxLength }).filter((value) => !value.includes('\0'));

const headerName = fc
  .string({ unit: fc.constantFrom(..."ABCxyz019!#$%&'*+.^_`|~-"), minLength: 1, maxLength: 20 })
  .map((name) => `X${name}`);
const headerValue = fc.string({ maxLength: 40 }).filter((value) => /^[\t\x20-\x7e]*$/.test(value));

const idsOf = (name: 'siteId' | 'sourceId' | 'variableId') => {
  const index = fc.integer({ min: 0, max: 2 });
  const ids = fc.array(index, { minLength: 1, maxLength: 4 });
  return fc
    .option(ids, { nil: undefined })
    .map((found) => found?.map((structure) => siteStructures[structure]?.[name]));
};
const filter = fc.record({
  siteIds: idsOf('siteId'),
  sourceIds: idsOf('sourceId'),
  variableIds: idsOf('variableId'),
});

const webhook = fc
  .record({
    name: text(60),
    url: fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }),
    eventType: fc.constantFrom(...EVENT_TYPES),
    isEnabled: fc.boolean(),
    httpMethod: fc.constantFrom('POST', 'PUT'),
    headers: fc.uniqueArray(fc.tuple(headerName, headerValue), {
      maxLength: 6,
      selector: ([name]) => name.toLowerCase(),
    }),
    filter,
    bodyTemplate: fc.option(text(80).map((value) => JSON.stringify({ text: value.replaceAll('{', '(') }))),
  })
  .map(({ headers, ...members }) => ({
    ...members,
    headers: Object.fromEntries(headers),
    filter: isFilterable(members.eventType) ? members.filter : {},
  }));

/** @returns the webhook without its id, dates and secret. */
function fieldsOf({ id: _, createdDate, modifiedDate, secret, ...fields }: SeenWebhook) {
  return fields;
}

async function forget(...webhooks: readonly SeenWebhook[]): Promise<void> {
  for (const { id } of webhooks) await api.manager.delete(`/account/webhooks/${id}`);
}

it('webhooks: the body of a GET response, sent back with POST, creates an identical webhook; sent back with PUT, it changes nothing (rulings part C, R-I1)', async () => {
  await fc.assert(
    fc.asyncProperty(webhook, fc.constantFrom('Light', 'Normal', 'Verbose'), async (members, level) => {
      const made = await createWebhook(api.manager, members);
      expect(fieldsOf(made)).toEqual({ ...JSON.parse(JSON.stringify(members)), disabledReason: null });
      const path = `/account/webhooks/${made.id}`;
      const copy = await createWebhook(api.manager, (await api.manager.get<object>(`${path}`)).body);
      expect(fieldsOf(copy)).toEqual(fieldsOf(made));
      const { secret: _, ...shown } = made;
      const { body } = await api.manager.get(`${path}?displayLevel=${level}`);
      expect(await api.manager.put(path, body)).toMatchObject({ status: 200, body: shown });
      await forget(made, copy);
    }),
    { numRuns: 30 },
  );
});

it('webhooks: when the library rfc6902 computes the JSON Patch between two webhooks, this patch makes the first webhook equal to the second (R-I6)', async () => {
  await fc.assert(
    fc.asyncProperty(webhook, webhook, async (from, to) => {
      const [first, second] = [await createWebhook(api.manager, from), await createWebhook(api.manager, to)];
      const operations = createPatch(fieldsOf(first), fieldsOf(second));
      const path = `/account/webhooks/${first.id}`;
      expect(await api.manager.patch(path, operations)).toMatchObject({ status: 200 });
      expect(fieldsOf((await api.manager.get<SeenWebhook>(path)).body)).toEqual(fieldsOf(second));
      await forget(first, second);
    }),
    { numRuns: 30 },
  );
});
