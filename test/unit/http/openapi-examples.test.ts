/** The example of every JSON request body is valid input (R-A9). */
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { collectSchemas } from '../../../src/http/openapi/json-schemas.ts';
import { describeApi } from '../../../src/roles/api-description.ts';
import { exampleOf } from './schema-example.ts';

const { operations } = describeApi(
  readConfig({ DATABASE_URL: 'postgres://localhost/x', REDIS_URL: 'redis://localhost' }),
);
const bodies = operations.flatMap(({ operationId, body }) => {
  const schema = body?.types['application/json'];
  return schema ? [{ operationId, schema }] : [];
});

test.each(bodies)('openapi: the example body of $operationId is valid (R-A9)', ({ schema }) => {
  const { toJsonSchema, components } = collectSchemas();
  const example = exampleOf(toJsonSchema(schema, 'input'), components);
  expect(schema.safeParse(example), JSON.stringify(example)).toMatchObject({ success: true });
});
