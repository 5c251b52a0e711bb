/**
 * Query parameters of the requests for accounts (§4.1), the audit trail and the password link (§4.6). The routes and
 * their OpenAPI description use these declarations.
 */
import { z } from 'zod';
import { isStorableText, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { PAGING } from '../../platform/http/paging.ts';
import { declareQuery, type QueryParameter } from '../../platform/http/query.ts';
import {
  choiceParameter,
  choicesParameter,
  enumerationParameter,
  integerParameter,
  momentParameter,
  textParameter,
} from '../../platform/http/query-parameters.ts';
import { AUDIT_ACTIONS, AUDIT_SCOPES, MAX_AUDIT_PAGE } from '../audit/audit.ts';
import { ACCOUNT_DISPLAY_LEVEL, ACCOUNT_MEMBERS, type AccountMember } from './account.ts';

const maskNames = choicesParameter(
  '`GET` returns only the members named here. `PUT` changes only these members. Letter case is ignored.',
  ACCOUNT_MEMBERS,
);

/**
 * Query parameter: names of the account's properties, in the order of `ACCOUNT_MEMBERS`; undefined when the request
 * gives no name.
 */
const fieldMask: QueryParameter<readonly AccountMember[] | undefined> = {
  ...maskNames,
  read: (values, locationOf) => {
    const names = maskNames.read(values, () => locationOf());
    return names.length === 0 ? undefined : ACCOUNT_MEMBERS.filter((member) => names.includes(member));
  },
};

export const ACCOUNT_QUERY = declareQuery({
  displayLevel: enumerationParameter(
    'The members that are returned when there is no `fieldMask`.',
    ACCOUNT_DISPLAY_LEVEL,
    'Normal',
  ),
  fieldMask,
});
export const ACCOUNT_CHANGE_QUERY = declareQuery({ fieldMask });

/**
 * Accounts have no subscriptions, so `SubscriptionId` (§4.1) has no effect; the header `Warning` of the answer says so.
 */
export const MY_ACCOUNTS_QUERY = declareQuery({
  SubscriptionId: textParameter(
    'Has no effect, because accounts have no subscriptions; the header `Warning` of the answer says so.',
  ),
});

export const PASSWORD_LINK_QUERY = declareQuery({
  returnUrl: textParameter(
    'URL to which the change-password page returns the user. It must be listed in the setting RETURN_URLS. Default: the first URL listed there. If RETURN_URLS is empty, the default is a page of the token issuer.',
  ),
});

const storableText = z.string().refine(isStorableText, { error: STORABLE_RULE });

/** `itemsPerPage` is limited, because a page of the audit trail is held in memory. */
export const AUDIT_QUERY = declareQuery(
  {
    from: momentParameter('First instant, inclusive. A date without a zone is UTC.'),
    to: momentParameter('End of the period, exclusive. A date without a zone is UTC.'),
    userId: textParameter(
      'Entries in which this user acted (also by impersonating another user) or was impersonated.',
      storableText,
    ),
    targetId: textParameter('Entries whose `targetId` has this value.', storableText),
    action: choiceParameter('Entries with this action.', AUDIT_ACTIONS),
    scope: choiceParameter(
      '`Account` (default): entries of the account of the token. `Operator`: entries that belong to no account. `All`: every entry. `Operator` and `All` require the role ADMIN.',
      AUDIT_SCOPES,
    ),
    ...PAGING,
    itemsPerPage: integerParameter('Entries per page; default 1000.', { min: 1, max: MAX_AUDIT_PAGE }),
  },
  { isListing: true },
);
