/** The body of every error (R-A5), as it is described. */
import { z } from 'zod';
import { ERROR_MAPPINGS, type ErrorCode } from '../errors.ts';

const CODES = Object.keys(ERROR_MAPPINGS) as [ErrorCode, ...ErrorCode[]];

export const problemSchema = z
  .object({
    path: z.string().meta({ description: 'Where, as a JSON path or `query.name`.', examples: ['$[3].data[0].date'] }),
    message: z.string(),
  })
  .meta({ id: 'Problem', description: 'One thing that is wrong with what was sent.' });

export const errorSchema = z
  .object({
    code: z.enum(CODES).meta({ description: 'Stable: branch on it.' }),
    message: z.string().meta({ description: 'What was wrong, for people.' }),
    details: z.array(problemSchema).optional().meta({ description: 'Every problem found, at most 100.' }),
    requestId: z.string().meta({ description: 'As in `X-Request-Id`; name it when you ask for help.' }),
  })
  .meta({ id: 'Error' });

/** What each code tells. */
export const ERROR_WORDS: Readonly<Record<ErrorCode, string>> = {
  invalid_input: 'what was sent is not valid; `details` name every place',
  malformed_json: 'the body is no JSON; the message names line and column',
  api_version_unsupported: 'the header `Api-Version` names another version than 1.7',
  invalid_token: 'no valid credentials were sent',
  insufficient_scope: 'the token lacks the scope',
  permission_denied: 'the user lacks the role, permission or right',
  mapping_failed: 'the mapper could not make push elements of the body',
  not_found: 'it does not exist, or is not the caller’s to see',
  conflict: 'it does not go together with the present state',
  calculation_cycle: 'the variable would be calculated from itself',
  gone: 'this was replaced; the message says by what',
  body_too_large: 'the body, or what is in it, is beyond a limit',
  unsupported_media_type: 'the body is of a type or encoding that is not read',
  rate_limited: 'too many requests; `Retry-After` says when to go on',
  internal_error: 'something went wrong on the side of the service',
  queue_full: 'more pushes wait than may; `Retry-After` says when to try again',
  dependency_unavailable: 'a part of the service is down; `Retry-After` says when to try again',
};
