/**
 * The claim `account` at Keycloak as R-B4 wants it: the form field `account` of a token request, else `accountId:` of
 * `acr_values`, else the user's attribute. Keycloak runs this as a script mapper (JavaScript of 2011, without modules): user,
 * userSession and keycloakSession are given, `exports` is the claim.
 *
 * Whether the user belongs to that account is not asked here: the service looks at every call. What names no account is 0, which
 * opens none; the active account would be another than the one meant.
 */
var NOTE = 'tidemark.account';
var MAX_ACCOUNT_ID = 2147483647;

var form = keycloakSession.getContext().getHttpRequest().getDecodedFormParameters();

function field(name) {
  var value = form ? form.getFirst(name) : null;
  return value ? String(value).trim() : '';
}

function askedFor() {
  var account = field('account');
  if (account !== '') return account;
  var named = /(?:^|\s)accountId:(\S*)/.exec(field('acr_values'));
  return named === null ? '' : named[1];
}

function toClaim(text) {
  var id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return String(id <= MAX_ACCOUNT_ID ? id : 0);
}

// Each password grant has a session of its own, whose refreshes keep the account; those of browsers are of several clients.
var chosen = askedFor();
if (chosen !== '' && field('grant_type') === 'password') userSession.setNote(NOTE, chosen);
if (chosen === '') chosen = userSession.getNote(NOTE) || user.getFirstAttribute('account') || '';

// biome-ignore lint/suspicious/noGlobalAssign: what it is for
exports = chosen === '' ? null : toClaim(String(chosen));
