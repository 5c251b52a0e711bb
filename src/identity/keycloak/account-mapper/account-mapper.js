/**
 * Script mapper of the claim `account` at Keycloak (R-B4): the form field `account` of the token request, else `accountId:`
 * in `acr_values`, else the account that the password grant of the session named, else the user's attribute. Keycloak runs
 * it as ECMAScript 5 without modules, provides user, userSession and keycloakSession, and reads the claim from `exports`.
 *
 * The mapper does not check membership: the service does on every call. A malformed account gives the claim 0, which no
 * account has; falling back to the active account would grant access to another account than the requested one.
 */
var NOTE = 'tidemark.account';
// Keycloak loads this file alone, so it cannot import MAX_INT4.
var MAX_ACCOUNT_ID = 2147483647;

var form = keycloakSession.getContext().getHttpRequest().getDecodedFormParameters();

function field(name) {
  var value = form ? form.getFirst(name) : null;
  return value ? String(value).trim() : '';
}

function requestedAccount() {
  var account = field('account');
  if (account !== '') return account;
  var named = /(?:^|\s)accountId:(\S*)/.exec(field('acr_values'));
  return named === null ? '' : named[1];
}

function toClaim(text) {
  var id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return String(id <= MAX_ACCOUNT_ID ? id : 0);
}

// Only the account of a password grant is stored for refreshes: each password grant has its own session, whereas several
// clients share the session of a browser.
var chosen = requestedAccount();
if (chosen !== '' && field('grant_type') === 'password') userSession.setNote(NOTE, chosen);
if (chosen === '') chosen = userSession.getNote(NOTE) || user.getFirstAttribute('account') || '';

// biome-ignore lint/suspicious/noGlobalAssign: Keycloak reads the claim from it
exports = chosen === '' ? null : toClaim(String(chosen));
