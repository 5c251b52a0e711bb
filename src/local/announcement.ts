/** The text that `npm start` prints when Tidemark is ready: addresses, users, and three commands to try. */
import type { Stack } from './stack.ts';

/**
 * @returns the text to print. The example commands in the text use variable 1, the first variable that the demo creates
 * in an empty database.
 */
export function announce(stack: Stack): string {
  const user = stack.users.find(({ role }) => role === 'MANAGER');
  const token = `${stack.auth}/realms/${stack.realm}/protocol/openid-connect/token`;
  return [
    '',
    'Addresses',
    ...table([
      ['console', `${stack.api}/  (sign in as one of the users below)`],
      ['API', stack.api],
      ['push', `${stack.push}/api/data`],
      ['tokens', token],
      ['docs', `${stack.api}/docs`],
      ['gRPC', stack.grpc],
      ['client', `${stack.clientId}, secret ${stack.clientSecret}`],
      ['more', '.local/stack.json (database and Redis too); `npm run db` opens psql'],
    ]),
    '',
    'Users',
    ...table(stack.users.map(({ userName, password, role, account }) => [userName, password, role, account])),
    '',
    'Try, with the demo loaded',
    `  TOKEN=$(curl -s ${token} -d grant_type=password -d client_id=${stack.clientId} -d client_secret=${stack.clientSecret} -d username=${user?.userName} -d password=${user?.password} -d 'scope=datahub-api push-data' | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')`,
    `  curl -s ${stack.push}/api/data -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '[{"variableId":1,"data":[{"date":"2024-01-01T00:00:00Z","value":42}]}]'`,
    `  curl -s '${stack.api}/data?variableId=1&from=2024-01-01T00:00:00Z&to=2024-01-02T00:00:00Z' -H "Authorization: Bearer $TOKEN"`,
    '',
    'Ctrl-C stops what this command started and keeps the data. `npm run reset` removes the data and starts again, unless DATABASE_URL and REDIS_URL are set.',
    '',
    'Tidemark is ready',
    '',
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), []);
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd());
}
