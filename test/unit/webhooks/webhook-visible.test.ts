/** Visibility of webhooks to a USER, for random filters and site access (R-B9). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planVisible, type ReachedEntities } from '../../../src/webhooks/administration/visible-webhook-rules.ts';
import type { StoredWebhook, WebhookFilter } from '../../../src/webhooks/webhook.ts';

const SECRET = 'SECRETMARK';

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 });
const filter: fc.Arbitrary<WebhookFilter> = fc.record(
  { siteIds: ids, sourceIds: ids, variableIds: ids },
  { requiredKeys: [] },
);
const idSets = fc.uniqueArray(fc.integer({ min: 1, max: 6 })).map((list) => new Set(list));
const reach: fc.Arbitrary<ReachedEntities> = fc
  .record({ shownSites: idSets, wholeSites: idSets, sources: idSets, variables: idSets })
  .map(({ wholeSites, ...reached }) => ({
    ...reached,
    wholeSites: new Set([...wholeSites].filter((id) => reached.shownSites.has(id))),
  }));

const webhookOf = (given: WebhookFilter): StoredWebhook => ({
  ...{ id: 'a', name: 'n', eventType: 'DataPointsWritten', isEnabled: true, httpMethod: 'POST', filter: given },
  url: `https://receiver.example/${SECRET}?${SECRET}`,
  headers: { Authorization: SECRET },
  bodyTemplate: SECRET,
  ...{ disabledReason: null, createdDate: '2026-01-01T00:00:00Z', modifiedDate: '2026-01-01T00:00:00Z' },
  ...{ lastExecution: null, successCount: 1, failureCount: 2 },
});

/**
 * Lists every id of a filter, with two flags: whether the user sees the entity, and whether the user sees everything in
 * the entity.
 */
function entitiesOf({ siteIds = [], sourceIds = [], variableIds = [] }: WebhookFilter, reached: ReachedEntities) {
  const inside = (set: ReadonlySet<number>) => (id: number) => ({ id, isShown: set.has(id), isWhole: set.has(id) });
  return {
    siteIds: siteIds.map((id) => ({ id, isShown: reached.shownSites.has(id), isWhole: reached.wholeSites.has(id) })),
    sourceIds: sourceIds.map(inside(reached.sources)),
    variableIds: variableIds.map(inside(reached.variables)),
  };
}

it('webhooks as a USER sees them: a filter shows only the ids that the user may see (R-B9)', () => {
  fc.assert(
    fc.property(filter, reach, (given, reached) => {
      const shown = planVisible(webhookOf(given), reached);
      const named = entitiesOf(given, reached);
      const expected = Object.entries(named).flatMap(([list, all]) => {
        const inReach = all.filter(({ isShown }) => isShown).map(({ id }) => id);
        return inReach.length > 0 ? [[list, inReach]] : [];
      });
      const isAccountWide = Object.keys(given).length === 0;
      if (!isAccountWide && expected.length === 0) expect(shown).toBeUndefined();
      else expect(shown?.filter).toEqual(Object.fromEntries(expected));
    }),
  );
});

it('webhooks as a USER sees them: delivery statistics are shown only when the webhook has a filter and the user may see each entity of the filter completely (R-B9)', () => {
  fc.assert(
    fc.property(filter, reach, (given, reached) => {
      const shown = planVisible(webhookOf(given), reached);
      if (!shown) return;
      const all = Object.values(entitiesOf(given, reached)).flat();
      const isWhole = all.length > 0 && all.every((entity) => entity.isWhole);
      for (const member of ['lastExecution', 'successCount', 'failureCount']) {
        expect(Object.hasOwn(shown, member)).toBe(isWhole);
      }
    }),
  );
});

it('webhooks as a USER sees them: possible credentials in the URL are masked, and the masked URL is still a valid URL (R-B9)', () => {
  fc.assert(
    fc.property(filter, reach, (given, reached) => {
      const shown = planVisible(webhookOf(given), reached);
      expect(JSON.stringify(shown ?? {})).not.toContain(SECRET);
      if (shown) expect(new URL(shown.url).origin).toBe('https://receiver.example');
    }),
  );
});
