/** OpenAPI schema of error bodies (R-A5), and the meaning of each error code. */
import { z } from 'zod';
import { ERROR_MAPPINGS, type ErrorCode } from '../errors.ts';

const CODES = Object.keys(ERROR_MAPPINGS) as [ErrorCode, ...ErrorCode[]];

export const problemSchema = z
  .object({
    path: z.string().meta({
      description:
        'Place of the problem: a JSON path in the body, `query.name` for a query parameter, `header.name` for a header, or the line and column in malformed JSON.',
      examples: ['$[3].data[0].date'],
    }),
    message: z.string(),
  })
  .meta({ id: 'Problem', description: 'One problem in the request.' });

export const errorSchema = z
  .object({
    code: z.enum(CODES).meta({ description: 'Stable error code, for use by programs.' }),
    message: z.string().meta({ description: 'Explanation for people.' }),
    details: z.array(problemSchema).optional().meta({ description: 'The problems found, at most 100.' }),
    requestId: z.string().meta({ description: 'Same as the header `X-Request-Id`; quote it in support requests.' }),
  })
  .meta({ id: 'Error' });

/** Description of each error code in the OpenAPI document. */
export const ERROR_WORDS: Readonly<Record<ErrorCode, string>> = {
  invalid_input: 'the request is not valid; `details`, if present, lists the problems, at most 100',
  malformed_json:
    'the body is not valid JSON (the message names line and column), or is not valid in its encoding, which is UTF-8 by default',
  api_version_unsupported: 'the header `Api-Version` names a version other than 1.7',
  invalid_token: 'the credentials are missing or invalid',
  insufficient_scope: 'the token lacks the scope that the operation requires',
  permission_denied: 'the user lacks the role, permission or right that the operation requires',
  mapping_failed: 'the mapper could not convert the body into push elements',
  not_found: 'the resource does not exist or is not visible to the caller',
  conflict: 'the request conflicts with the current state of a resource',
  calculation_cycle: 'a variable would trigger itself, or variables would depend on each other in a cycle',
  gone: 'the operation was removed; the message names the operation to use instead',
  body_too_large: 'the body has too many bytes, elements or readings; the message names the limit',
  unsupported_media_type: 'the media type or encoding of the body is not supported',
  rate_limited: 'too many requests, or too many at the same time; `Retry-After` tells when to continue',
  internal_error: 'the service failed',
  queue_full:
    'the memory for request bodies is full, or a queue of the service is full; `Retry-After` tells when to try again',
  dependency_unavailable:
    'a dependency of the service is unavailable, or the service is busy; `Retry-After` tells when to try again',
};
