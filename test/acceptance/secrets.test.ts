/**
 * Neither the server's processes nor the commands print or log secrets when settings are invalid, or when the database
 * or Redis fails (R-K1, R-K4).
 */
import { spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { OWN_ENVIRONMENT } from '../support/services/role-process.ts';
import { testRedisUrl } from '../support/services/stack.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const MARKER = 'marker-of-a-password';
const NOWHERE = '127.0.0.1:1';

/** Runs a role or command until it ends or its output matches `until`. @returns the output. */
function run(args: readonly string[], environment: Readonly<Record<string, string>>, until?: RegExp): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...OWN_ENVIRONMENT, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      if (until?.test(output)) child.kill('SIGKILL');
    });
  }
  return new Promise((resolve) => child.once('close', () => resolve(output)));
}

describe.concurrent('secrets: output of roles and commands (R-K1)', () => {
  test('`api` prints no secret when settings are invalid, and names each invalid setting', async () => {
    const output = await run(['api'], {
      DATABASE_URL: `mysql://user:${MARKER}@host/name`,
      REDIS_URL: `redis://:${MARKER}@host:99999`,
      SMTP_URL: `mail://user:${MARKER}@host`,
      TRUSTED_ISSUERS: `[{"issuer": "${MARKER}"}]`,
      METRICS_TOKEN: MARKER.slice(0, 9),
    });
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'TRUSTED_ISSUERS', 'METRICS_TOKEN'])
      expect(output).toContain(name);
    expect(output).not.toContain(MARKER.slice(0, 9));
  });

  test.each(['migrate', 'api', 'grpc', 'ingester', 'admin create-account --name x --manager x@x.example --client x'])(
    '`%s` prints no secret when the database and Redis are unreachable',
    async (command) => {
      const DATABASE_URL = `postgres://user:${MARKER}@${NOWHERE}/name`;
      const REDIS_URL = `redis://:${MARKER}@${NOWHERE}`;
      const until = /Redis is unavailable[\s\S]*Redis is unavailable/;
      const output = await run(command.split(' '), { DATABASE_URL, REDIS_URL }, until);
      expect(output).toContain('ECONNREFUSED');
      expect(output).not.toContain(MARKER);
    },
  );

  test.each(['ingester', 'grpc'])('`%s` prints no secret when Redis refuses the password', async (role) => {
    const redis = new URL(testRedisUrl());
    redis.username = 'stranger';
    redis.password = MARKER;
    const DATABASE_URL = `postgres://user:${MARKER}@${NOWHERE}/name`;
    const output = await run(
      [role],
      { DATABASE_URL, REDIS_URL: redis.href },
      /WRONGPASS[^\n]*\n[\s\S]*WRONGPASS[^\n]*\n/,
    );
    expect(output).toContain('WRONGPASS');
    expect(output).not.toContain(MARKER);
  });

  test('`migrate` and `api` print no secret when the database refuses the password', async () => {
    // The answer of PostgreSQL to a wrong password: ErrorResponse with code 28P01.
    const text = 'SFATAL\0C28P01\0Mpassword authentication failed for user "user"\0\0';
    const refusal = Buffer.alloc(5 + text.length);
    refusal.write('E');
    refusal.writeInt32BE(4 + text.length, 1);
    refusal.write(text, 5, 'latin1');
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(refusal));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const DATABASE_URL = `postgres://user:${MARKER}@127.0.0.1:${port}/name`;
    for (const args of [['migrate'], ['api']]) {
      const output = await run(args, { DATABASE_URL, REDIS_URL: testRedisUrl() });
      expect(output).toContain('28P01');
      expect(output).not.toContain(MARKER);
    }
    server.close();
  });
});
