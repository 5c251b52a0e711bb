/** API calls for the retention policy of a variable, or of the account when `variableId` is undefined. */
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';

export type RetentionState = components['schemas']['RetentionState'];
export type Rollup = 'Hour' | 'Day';

/** The values of the inputs in the retention form. */
export interface RetentionFields {
  readonly keepRawYears: string;
  readonly rollup: Rollup;
  /**
   * Empty means the default zone. A policy of a variable defaults to the zone of the variable's source or, if the
   * source has none, of the site. The policy of the account defaults to the account's own zone.
   */
  readonly timeZoneId: string;
  readonly isActive: boolean;
}

/** @returns the form values of the saved policy. When none is saved: inactive, daily rollups, other values empty. */
export function toRetentionFields({ retention }: RetentionState): RetentionFields {
  if (!retention) return { keepRawYears: '', rollup: 'Day', timeZoneId: '', isActive: false };
  const { keepRawYears, rollup, timeZoneId, isActive } = retention;
  return { keepRawYears: String(keepRawYears), rollup, timeZoneId, isActive };
}

const toRule = ({ keepRawYears, rollup, timeZoneId }: RetentionFields) => ({
  ...{ keepRawYears: Number(keepRawYears), rollup },
  ...(timeZoneId !== '' && { timeZoneId }),
});

/** @returns the fields on which the counts of a preview depend, joined to one string for comparison. */
export function ruleOf({ keepRawYears, rollup, timeZoneId }: RetentionFields): string {
  return JSON.stringify([keepRawYears, rollup, timeZoneId]);
}

/**
 * Requests the saved policy, and the counts of rollups and refused points so far.
 * @param variableId undefined means the policy of the account, and the counts of all variables of the account.
 */
export function callRetention(variableId: number | undefined): Promise<RetentionState> {
  return variableId === undefined
    ? bodyOf(api.GET('/account/retention'))
    : bodyOf(api.GET('/variables/{id}/retention', { params: { path: { id: variableId } } }));
}

/** @returns the counts of a preview of a policy with `fields`, and the rule (see `ruleOf`) of that policy. */
export async function callPreview(variableId: number | undefined, fields: RetentionFields) {
  const query = toRule(fields);
  const counts = await (variableId === undefined
    ? bodyOf(api.GET('/account/retention/preview', { params: { query } }))
    : bodyOf(api.GET('/variables/{id}/retention/preview', { params: { path: { id: variableId }, query } })));
  return { counts, rule: ruleOf(fields) };
}

/** Saves the policy. @param variableId undefined means the policy of the account. */
export function saveRetention(variableId: number | undefined, fields: RetentionFields): Promise<unknown> {
  const body = { ...toRule(fields), isActive: fields.isActive };
  return variableId === undefined
    ? bodyOf(api.PUT('/account/retention', { body }))
    : bodyOf(api.PUT('/variables/{id}/retention', { params: { path: { id: variableId } }, body }));
}

/** Removes the policy. @param variableId undefined means the policy of the account. */
export function removeRetention(variableId: number | undefined): Promise<unknown> {
  return variableId === undefined
    ? bodyOf(api.DELETE('/account/retention'))
    : bodyOf(api.DELETE('/variables/{id}/retention', { params: { path: { id: variableId } } }));
}
