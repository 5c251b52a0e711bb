/**
 * Parses compose.yaml as `docker compose` does, for the features this project uses: variables and merge keys. An
 * unknown key of a service, a network or a volume is an error. Pure; used by image-check.ts and by the tests that state
 * the rules for every service.
 */
import { parse } from 'yaml';
import { z } from 'zod';

type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$(?:(\$)|\{(\w+)(?:(:[-?])([^}]*))?\})/g;

const condition = z.enum(['service_healthy', 'service_completed_successfully']);

const service = z.strictObject({
  image: z.string(),
  /** Profiles of the service; image:check starts the services of every profile. */
  profiles: z.array(z.string()).default([]),
  build: z.strictObject({ context: z.literal('.'), target: z.string(), args: z.record(z.string(), z.string()) }),
  command: z.array(z.string()).default([]),
  user: z.string(),
  init: z.boolean().default(false),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.strictObject({ condition })).default({}),
  healthcheck: z.union([
    z.strictObject({ disable: z.literal(true) }),
    z.strictObject({
      test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.int(),
      start_period: z.string(),
    }),
  ]),
  deploy: z.strictObject({
    resources: z.strictObject({
      limits: z.strictObject({ cpus: z.string(), memory: z.string(), pids: z.int() }),
    }),
  }),
  restart: z.enum(['no', 'unless-stopped']),
  stop_grace_period: z.string().default('10s'),
  logging: z.looseObject({}).optional(),
});

const file = z.object({
  name: z.string(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().default(false) })),
  volumes: z.record(z.string(), z.strictObject({})),
});

export type ComposeService = z.output<typeof service>;
export type ComposeFile = z.output<typeof file>;

/**
 * Parses compose.yaml and replaces its variables.
 * @throws {Error} when a required variable is not set; the message names it.
 * @throws {Error} when compose.yaml does not match the schema; the message names every key that does not match.
 */
export function parseCompose(text: string, variables: Variables): ComposeFile {
  const { data, error } = file.safeParse(interpolate(parse(text, { merge: true }), variables));
  if (error)
    throw new Error(`compose.yaml does not match the schema in src/local/image/compose.ts:\n${z.prettifyError(error)}`);
  return data;
}

/** Replaces `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `$$` in every string of `value`. */
export function interpolate(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_, dollar, name, operator, rest) =>
      dollar ? '$' : resolveVariable(variables[name], name, operator, rest),
    );
  }
  if (Array.isArray(value)) return value.map((item) => interpolate(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, variables)]));
}

function resolveVariable(value: string | undefined, name: string, operator?: string, rest?: string): string {
  if (value) return value;
  if (operator === ':?') throw new Error(`${name} is required: ${rest}`);
  return rest ?? '';
}

/** @returns the names of the services, each after its dependencies. @throws {Error} on a circular dependency. */
export function startOrder(services: ComposeFile['services']): readonly string[] {
  const order: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name))
      throw new Error(`depends_on of services must not form a cycle: ${[...path, name].join(' → ')}`);
    if (order.includes(name)) return;
    for (const dependency of Object.keys(services[name]?.depends_on ?? {})) visit(dependency, [...path, name]);
    order.push(name);
  };
  for (const name of Object.keys(services)) visit(name, []);
  return order;
}
