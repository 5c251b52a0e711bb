/** What all operations of the document share: addresses, credentials, headers, and the words in front. */
import { API_VERSION } from '../../platform/http/api-version.ts';
import type { JsonSchema } from './json-schemas.ts';

/** Where the parts of this installation are, without a slash at the end. */
export interface Addresses {
  readonly api: string;
  readonly push: string;
  readonly issuer: {
    readonly authorizationUrl: string;
    readonly tokenUrl: string;
  };
}

const SCOPES = { 'datahub-api': 'The API.', 'push-data': 'Pushing, and what became of pushes.' };

export function securitySchemes({
  issuer: { authorizationUrl, tokenUrl },
}: Addresses): Readonly<Record<string, JsonSchema>> {
  const shared = { tokenUrl, refreshUrl: tokenUrl, scopes: SCOPES };
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'A bearer token. The form field `account` chooses one of the user’s accounts; without it the active one is meant.',
      flows: { password: shared, authorizationCode: { authorizationUrl, ...shared } },
    },
    basic: { type: 'http', scheme: 'basic', description: 'On push alone: exchanged for a token of the user.' },
  };
}

export const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  ApiVersion: {
    name: 'Api-Version',
    in: 'header',
    description: 'The version of the interface that is meant.',
    schema: { type: 'string', enum: [API_VERSION], default: API_VERSION },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'An id of the client’s own for this request; without it the service makes one. It is in logs and errors.',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
  TotalCount: {
    name: 'x-total-count',
    in: 'header',
    description: 'Asks how many items there are on all pages together.',
    schema: { type: 'boolean', default: false },
  },
  Gzip: {
    name: 'Content-Encoding',
    in: 'header',
    description: 'The body may be compressed; limits are of what it inflates to.',
    schema: { type: 'string', enum: ['gzip', 'identity'], default: 'identity' },
  },
};

const header = (description: string, schema: JsonSchema): JsonSchema => ({ description, schema });

export const RESPONSE_HEADERS: Readonly<Record<string, JsonSchema>> = {
  'Api-Version': header('The version that answers.', { type: 'string', const: API_VERSION }),
  'X-Request-Id': header('The id of this request.', { type: 'string' }),
  'x-total-count': header('When it was asked for: the items of all pages together.', { type: 'integer', minimum: 0 }),
  'WWW-Authenticate': header('Which credentials are needed (RFC 6750).', { type: 'string' }),
  'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }),
};

export const INTRODUCTION = `A time-series engine for measurements that get corrected: every revision of a versioned point is
kept, series derived from others are calculated again by R scripts when an input changes, and points are read as they are
now, as they were known at any moment, or under the label of a revision.

**Read leniently.** Paths may have doubled slashes and one at the end. Names of query parameters are read in any case and with
any prefix up to a dot (\`Paging.PageNumber\` is \`pageNumber\`); those that are not known are ignored. Property names of bodies
are read in any case, integers also as text, enumerations by name in any case or by number. Unknown and read-only members of
a body are ignored: what GET returns may be sent back. Bodies are \`application/json\`, \`application/*+json\` or
\`application/json-patch+json\`.

**Written strictly.** Instants are ISO 8601 in UTC with \`Z\`, or with an offset where a time zone was asked for. Enumerations
are written by name. Answers may get further members without a new version. Answers larger than 1 KiB are compressed
when asked for.

**Errors** have one form, \`Error\`; \`code\` is stable. What belongs to somebody else does not exist (404).`;
