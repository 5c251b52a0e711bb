/**
 * Description of a route (R-A9): plain data in a file `*-docs.ts` next to the route. The description contains the
 * schemas with which the route validates requests, but the route does not read the description. Only http/openapi reads
 * descriptions: at the first request for the OpenAPI document, http/openapi builds the document from all descriptions.
 */
import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import { MAX_INT4 } from '../limits.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Requirements that the caller of an operation must meet (R-B6, R-B8). */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'caller';
      readonly scope: 'datahub-api' | 'push-data';
      /** Minimum role of the caller; when it is absent, every user may call the operation. */
      readonly role?: 'MANAGER' | 'ADMIN';
      /** The claim that the caller must have. */
      readonly permission?: string;
    };

export interface Parameter {
  readonly description: string;
  /** Type of the value. When the type is an array, clients repeat the parameter once for each element. */
  readonly schema: z.ZodType;
  readonly isRequired?: true;
}

/** A request body: the schema of each media type. */
export interface Body {
  readonly description?: string;
  readonly types: Readonly<Record<string, z.ZodType>>;
  readonly isOptional?: true;
  /** Whether `Content-Encoding: gzip` is accepted. */
  readonly mayBeGzip?: true;
}

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** Schema of the body, by media type. The property is absent when the body is empty. */
  readonly types?: Readonly<Record<string, z.ZodType>>;
  /** Description of each response header, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The query that the route declares with `declareQuery` (platform/http/query.ts). */
export interface DescribedQuery {
  readonly parameters: Readonly<Record<string, Parameter>>;
  parse(address: string): unknown;
}

export interface Operation {
  readonly method: Method;
  /** Path pattern of the route, such as `/sites/:id`. */
  readonly path: string;
  /** Operation id. It must stay the same, because generated clients use it as the name of a function. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** Description in CommonMark. */
  readonly description?: string;
  readonly access: Access;
  /** Path parameters by name. A path parameter that is not listed here is described as the id of a resource. */
  readonly inPath?: Readonly<Record<string, Parameter>>;
  readonly query?: DescribedQuery;
  /** True when the operation lists items and can return their total number in `x-total-count` (R-A7). */
  readonly isListing?: true;
  readonly body?: Body;
  readonly answers: readonly [Answer, ...Answer[]];
  /** Further error codes, in addition to those that follow from `access`, `path`, `query` and `body`. */
  readonly errors?: readonly ErrorCode[];
  readonly isDeprecated?: true;
}

/** An event the service sends to webhooks. */
export interface SentEvent {
  readonly type: string;
  /** Example of the member `data` of the event. */
  readonly data: unknown;
}

const JSON_TYPE = 'application/json';

export const OPEN: Access = { kind: 'open' };
export const ALL_USERS: Access = { kind: 'caller', scope: 'datahub-api' };
export const MANAGERS: Access = { ...ALL_USERS, role: 'MANAGER' };
export const ADMINS: Access = { ...ALL_USERS, role: 'ADMIN' };

/** Describes a request body of type `application/json`. */
export function jsonBody(schema: z.ZodType, more: Omit<Body, 'types'> = {}): Body {
  return { ...more, types: { [JSON_TYPE]: schema } };
}

/** Describes a request body that is a JSON Patch (RFC 6902). */
export function patchBody(schema: z.ZodType): Body {
  return { types: { 'application/json-patch+json': schema, [JSON_TYPE]: schema } };
}

/** Describes an answer with a JSON body; its status is 200 unless `more` has another status. */
export function answersJson(description: string, schema: z.ZodType, more: Partial<Answer> = {}): Answer {
  return { status: 200, description, types: { [JSON_TYPE]: schema }, ...more };
}

/** Describes an answer without a body. */
export function answersNothing(description: string, status: 200 | 204 = 204, more: Partial<Answer> = {}): Answer {
  return { status, description, ...more };
}

export const idSchema = z.int().min(1).max(MAX_INT4);

/** Schema of an ISO 8601 instant with a zone. */
export const instantSchema = z.string().meta({ format: 'date-time', examples: ['2026-03-01T00:15:00Z'] });

/** Response header of operations whose requests contain dates (R-A11). */
export const DATE_ZONES: Readonly<Record<string, string>> = {
  'Time-Zone':
    'Time zones in which dates without a zone were read, separated by commas. Absent when every date had a zone.',
};

/**
 * Describes a path parameter that is a string, such as a label. The words in `fixed` are excluded, because at this
 * position they select other routes.
 */
export function textId(description: string, fixed: readonly string[] = []): Parameter {
  const schema = z.string().min(1);
  return { description, schema: fixed.length === 0 ? schema : schema.meta({ not: { enum: fixed } }) };
}
