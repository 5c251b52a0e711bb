/** Parts of the OpenAPI document that operations share: URLs, credentials, headers and the introduction. */
import { API_VERSION } from '../../platform/http/api-version.ts';
import type { JsonSchema } from './json-schemas.ts';

/** URLs of this installation, without a slash at the end. */
export interface Addresses {
  readonly api: string;
  readonly push: string;
  readonly issuer: {
    readonly authorizationUrl: string;
    readonly tokenUrl: string;
  };
}

const SCOPES = { 'datahub-api': 'The API.', 'push-data': 'Pushes and the state of push operations.' };

/** @returns the security schemes `oauth2`, `bearer` and `basic` of the document. */
export function securitySchemes({
  issuer: { authorizationUrl, tokenUrl },
}: Addresses): Readonly<Record<string, JsonSchema>> {
  const shared = { tokenUrl, refreshUrl: tokenUrl, scopes: SCOPES };
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'A bearer token. The request parameter `account` selects one of the user’s accounts; default: the active account.',
      flows: { password: shared, authorizationCode: { authorizationUrl, ...shared } },
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A bearer token, however obtained.',
    },
    basic: {
      type: 'http',
      scheme: 'basic',
      description:
        'Pushes and reads also accept HTTP Basic; the service exchanges the password for a token of the user.',
    },
  };
}

/** Parameters that operations share, by component name. */
export const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  ApiVersion: {
    name: 'Api-Version',
    in: 'header',
    description: 'Interface version the client expects.',
    schema: { type: 'string', enum: [API_VERSION], default: API_VERSION },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Request id chosen by the client; default: the service generates one. Logs and errors carry it.',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
  TotalCount: {
    name: 'x-total-count',
    in: 'header',
    description: '`true` requests the response header `x-total-count`.',
    schema: { type: 'boolean', default: false },
  },
  ItemsCount: {
    name: 'includeItemsCount',
    in: 'query',
    description: '`true` requests the response header `x-total-count`.',
    schema: { type: 'boolean', default: false },
  },
  Gzip: {
    name: 'Content-Encoding',
    in: 'header',
    description: 'Compression of the body; size limits apply to the inflated body.',
    schema: { type: 'string', enum: ['gzip', 'identity'], default: 'identity' },
  },
};

const header = (description: string, schema: JsonSchema): JsonSchema => ({ description, schema });

/** Response headers, by component name. */
export const RESPONSE_HEADERS: Readonly<Record<string, JsonSchema>> = {
  'Api-Version': header('Interface version of the service.', { type: 'string', const: API_VERSION }),
  'X-Request-Id': header('Id of this request.', { type: 'string' }),
  'x-total-count': header('Total number of items on all pages; present when requested.', {
    type: 'integer',
    minimum: 0,
  }),
  'WWW-Authenticate': header('Required credentials (RFC 6750).', { type: 'string' }),
  'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }),
};

/** Introduction of the OpenAPI document, in CommonMark. */
export const INTRODUCTION = `A time-series engine for measurements that get corrected. It keeps the last revisions of a versioned point, recalculates
derived series with R scripts when an input changes, and reads points as they are now, as they were known at an instant, or by
the label of a revision.

**Requests** are read leniently. Paths may have doubled and trailing slashes. Names of query parameters match in any letter case and with
any prefix up to a dot (\`Paging.PageNumber\` is \`pageNumber\`); unknown parameters are ignored, but a
listing refuses unknown parameters that look like a filter.
Property names of bodies match in any letter case; an integer id may be sent as
text, and an enumeration value as a number or as a name in any letter case.
Unknown and read-only members of a body are ignored, so a client may send back what GET returned. Media types of JSON bodies are \`application/json\`, \`application/*+json\` or
\`application/json-patch+json\`.

**Responses** are strict. Instants are ISO 8601 in UTC with \`Z\`, or with an offset when the request names a time zone. Enumeration
values are names. New members may appear without a new interface version. Responses of 1 KiB or more are compressed on request.

**Errors** have one form, \`Error\`; \`code\` is stable. The token issuer answers with OAuth errors (RFC 6749). A request for a resource of another account gets 404.`;
