/**
 * How a room describes its routes (R-A9): plain data in a file `*-docs.ts` beside them, with the schemas that validate.
 * Nothing here runs when a request is answered; http/openapi makes the document of it when it is first asked for.
 */
import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Who may call it (R-B6, R-B8). */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'caller';
      readonly scope: 'datahub-api' | 'push-data';
      /** The least role that may; absent: all users. */
      readonly role?: 'MANAGER' | 'ADMIN';
      /** A claim that must be granted. */
      readonly permission?: string;
    };

export interface Parameter {
  readonly description: string;
  /** A list is given by repeating the name. */
  readonly schema: z.ZodType;
  readonly isRequired?: true;
}

/** A request body, by media type. */
export interface Body {
  readonly description?: string;
  readonly types: Readonly<Record<string, z.ZodType>>;
  readonly isOptional?: true;
  /** `Content-Encoding: gzip` is accepted. */
  readonly mayBeGzip?: true;
}

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** None: the body is empty. */
  readonly types?: Readonly<Record<string, z.ZodType>>;
  /** Header → what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A query as it is declared for its route (platform/http/query.ts). */
export interface DescribedQuery {
  readonly parameters: Readonly<Record<string, Parameter>>;
  parse(address: string): unknown;
}

export interface Operation {
  readonly method: Method;
  /** As it is routed, such as `/sites/:id`. */
  readonly path: string;
  /** Stable: names of generated clients are made of it. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** CommonMark. */
  readonly description?: string;
  readonly access: Access;
  /** Of the path; those that are not named here are ids. */
  readonly inPath?: Readonly<Record<string, Parameter>>;
  readonly query?: DescribedQuery;
  /** Answers `x-total-count` when asked (R-A7). */
  readonly isListing?: true;
  readonly body?: Body;
  readonly answers: readonly [Answer, ...Answer[]];
  /** Besides those that go with its access, path, query and body. */
  readonly errors?: readonly ErrorCode[];
  readonly isDeprecated?: true;
}

/** What the service tells receivers of its own accord. */
export interface SentEvent {
  readonly type: string;
  /** An example. */
  readonly data: unknown;
}

const JSON_TYPE = 'application/json';
export const MAX_INT4 = 2_147_483_647;

export const OPEN: Access = { kind: 'open' };
export const ALL_USERS: Access = { kind: 'caller', scope: 'datahub-api' };
export const MANAGERS: Access = { ...ALL_USERS, role: 'MANAGER' };
export const ADMINS: Access = { ...ALL_USERS, role: 'ADMIN' };

/** A JSON body. */
export function jsonBody(schema: z.ZodType, more: Omit<Body, 'types'> = {}): Body {
  return { ...more, types: { [JSON_TYPE]: schema } };
}

/** A JSON Patch (RFC 6902). */
export function patchBody(schema: z.ZodType): Body {
  return { types: { 'application/json-patch+json': schema, [JSON_TYPE]: schema } };
}

/** 200 with JSON. */
export function answersJson(description: string, schema: z.ZodType, more: Partial<Answer> = {}): Answer {
  return { status: 200, description, types: { [JSON_TYPE]: schema }, ...more };
}

/** An empty answer. */
export function answersNothing(description: string, status: 200 | 204 = 204, more: Partial<Answer> = {}): Answer {
  return { status, description, ...more };
}

export const idSchema = z.int().min(1).max(MAX_INT4);

/** An ISO 8601 instant with a zone. */
export const instantSchema = z.string().meta({ format: 'date-time', examples: ['2026-03-01T00:15:00Z'] });

/** A text that identifies something. */
export function textId(description: string): Parameter {
  return { description, schema: z.string().min(1) };
}
