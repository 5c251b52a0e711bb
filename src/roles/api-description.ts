/**
 * Composes the API description (R-A9): the operations of every feature, their tags, and the URLs of this installation.
 */
import { ACCOUNT_OPERATIONS } from '../accounts/account/account-docs.ts';
import { CLIENT_OPERATIONS } from '../accounts/clients/client-docs.ts';
import { HEALTH_OPERATION } from '../accounts/health/account-health-docs.ts';
import { INSTALLATION_OPERATION } from '../accounts/installation/installation-docs.ts';
import { INVITATION_OPERATIONS } from '../accounts/invitations/invitation-docs.ts';
import { LISTING_OPERATIONS } from '../accounts/listing/listing-docs.ts';
import { USER_OPERATIONS } from '../accounts/users/user-docs.ts';
import { CALCULATION_OPERATIONS } from '../calculation/calculation-docs.ts';
import { SAVED_DECLARATION_SCHEMA } from '../calculation/declaration/declaration.ts';
import type { Config } from '../config.ts';
import { FILE_OPERATIONS } from '../files/file-docs.ts';
import type { Description } from '../http/openapi/build-document.ts';
import { SERVICE_OPERATIONS } from '../http/openapi/service-docs.ts';
import { issuerOperations } from '../identity/issuer/issuer-docs.ts';
import { apiUrl, signInIssuer } from '../identity/issuer/issuer-url.ts';
import { HEALTH_OPERATIONS } from '../platform/health/health-docs.ts';
import type { Operation } from '../platform/openapi/operation.ts';
import { MAPPER_OPERATIONS } from '../push/mapper/mapper-docs.ts';
import { PUSH_OPERATIONS } from '../push/push-docs.ts';
import { READING_OPERATIONS } from '../reading/reading-docs.ts';
import { RETENTION_OPERATIONS } from '../retention/retention-docs.ts';
import { CATALOGUE_OPERATIONS, OWN_ENTRY_OPERATIONS } from '../structure/catalogue/catalogue-docs.ts';
import { EXCHANGE_OPERATIONS } from '../structure/exchange/exchange-docs.ts';
import { FORM_OPERATIONS } from '../structure/forms/form-docs.ts';
import { structureOperations } from '../structure/structure-docs.ts';
import { VERSION_OPERATIONS } from '../structure/versions/version-docs.ts';
import { SENT_EVENTS, WEBHOOK_OPERATIONS } from '../webhooks/administration/webhook-docs.ts';
import { HISTORY_OPERATIONS } from '../webhooks/history/history-docs.ts';
import { TRIAL_OPERATIONS } from '../webhooks/trial-sends/trial-docs.ts';

/** Description of each tag, in the order of display. */
const TAGS = {
  Tokens: 'OAuth 2.0 access tokens. The operator issues client ids and secrets.',
  Push: 'Send readings. A push answered with 200 is stored durably.',
  Mappers: 'JSONata expressions that convert pushes in custom formats (JSON, XML, CSV) to push elements.',
  Files: 'Upload Standard Files (CSV, Excel) and follow their processing.',
  Points: 'Read points: current, as stored at an instant, by version label, in buckets, or two versions compared.',
  Versions: 'Versions of a variable.',
  Retention: 'Replace old points with rollups.',
  Calculations: 'Variables calculated by R scripts: runs, and tools for script authors.',
  Sites: 'Places where measurements are taken.',
  Sources: 'Meters, sensors and other origins of variables.',
  Variables: 'Time series of a source.',
  Forms: 'Definitions of the values that sites, sources and variables have in `clientData`.',
  Exchange: 'Export and import sites, sources and variables, identified by keys instead of ids, as JSON or Excel.',
  Catalogues: 'Units, types and enumerations.',
  Account: 'The account that the token selects, and the current user.',
  Users: 'Users of the account.',
  Claims: 'Named permissions granted to users, such as the permission to push.',
  Views: 'Filters saved by users.',
  Invitations: 'Invite people to the account.',
  Clients: 'OAuth clients and signing keys of the embedded token issuer.',
  Webhooks: 'Send events to HTTP receivers.',
  Service: 'Health, metrics and this API description.',
} as const;

/** Describes every route of the installation (R-A9). Each call builds a new description. */
export function describeApi(config: Config): Description {
  const api = apiUrl(config);
  const issuer = signInIssuer(config);
  return {
    operations: listOperations(config),
    events: SENT_EVENTS,
    eventTag: 'Webhooks',
    tags: TAGS,
    addresses: {
      api,
      push: (config.PUSH_URL ?? api).replace(/\/+$/, ''),
      issuer: {
        authorizationUrl: `${issuer}/protocol/openid-connect/auth`,
        tokenUrl: `${issuer}/protocol/openid-connect/token`,
      },
    },
  };
}

function listOperations({ USER_DIRECTORY, REALM }: Config): readonly Operation[] {
  return [
    ...(USER_DIRECTORY === 'embedded' ? issuerOperations(REALM) : []),
    ...PUSH_OPERATIONS,
    ...MAPPER_OPERATIONS,
    ...FILE_OPERATIONS,
    ...READING_OPERATIONS,
    ...VERSION_OPERATIONS,
    ...RETENTION_OPERATIONS,
    ...CALCULATION_OPERATIONS,
    ...structureOperations(SAVED_DECLARATION_SCHEMA),
    ...FORM_OPERATIONS,
    ...EXCHANGE_OPERATIONS,
    ...CATALOGUE_OPERATIONS,
    ...OWN_ENTRY_OPERATIONS,
    ...ACCOUNT_OPERATIONS,
    HEALTH_OPERATION,
    INSTALLATION_OPERATION,
    ...CLIENT_OPERATIONS,
    ...LISTING_OPERATIONS,
    ...USER_OPERATIONS,
    ...INVITATION_OPERATIONS,
    ...WEBHOOK_OPERATIONS,
    ...HISTORY_OPERATIONS,
    ...TRIAL_OPERATIONS,
    ...HEALTH_OPERATIONS,
    ...SERVICE_OPERATIONS,
  ];
}
