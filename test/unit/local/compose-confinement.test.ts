/**
 * Tests how image:check compares the confinement of a container with compose.yaml, and how it chooses the resource
 * limits of containers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCompose } from '../../../src/local/image/compose.ts';
import { findProblems } from '../../../src/local/image/confinement.ts';
import { limitOptions } from '../../../src/local/image/podman.ts';
import { CHECKOUT } from '../../../src/local/paths.ts';

const text = readFileSync(join(CHECKOUT, 'compose.yaml'), 'utf8');
const file = parseCompose(text, { DATABASE_PASSWORD: 'p', REDIS_PASSWORD: 'p' });

/** Output of the confinement check in a confined calculator. */
const GOOD = {
  uid: '26002',
  CapEff: '0000000000000000',
  CapPrm: '0000000000000000',
  CapBnd: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
  memory: '4294967296',
  pids: '500',
  cpu: '200000 100000',
  gateways: '0',
};

function problemsWith(difference: Readonly<Record<string, string>>): readonly string[] {
  const { calculator } = file.services;
  if (!calculator) throw new Error('compose.yaml has no calculator');
  const lines = Object.entries({ ...GOOD, ...difference }).map(([name, value]) => `${name}=${value}`);
  return findProblems({ file }, calculator, lines);
}

describe('image:check: confinement seen from inside a container', () => {
  test('for a container that matches compose.yaml, no problem is reported', () => {
    expect(problemsWith({})).toEqual([]);
  });

  test.each([
    ['the user root', { uid: '0' }, 'user must be 26002, got 0'],
    ['a capability', { CapEff: '0000000000200000' }, 'CapEff must be 0, got 2097152'],
    ['a way to gain privileges', { NoNewPrivs: '0' }, 'NoNewPrivs must be 1, got 0'],
    ['no system-call filter', { Seccomp: '0' }, 'Seccomp must be 2, got 0'],
    ['a writable directory', { writable: '/app' }, 'the list of writable directories must be empty, got /app'],
    ['no memory limit', { memory: 'max' }, 'bytes of memory must be 4294967296, got max'],
    ['no limit of processes', { pids: 'max' }, 'processes must be 500, got max'],
    ['no processor limit', { cpu: 'max 100000' }, 'processors must be 2, got max 100000'],
    ['a gateway', { gateways: '1' }, 'gateway must be absent, got present'],
  ])(
    'for a container with %s, the reported problem contains the expected and the actual value (R-H7)',
    (_, difference, problem) => {
      expect(problemsWith(difference)).toEqual([problem]);
    },
  );
});

describe('image:check: resource limits of containers', () => {
  const limits = (files: string, processes: string) =>
    `Limit Soft Hard Units\nMax processes   ${processes} ${processes} processes\nMax open files  1024 ${files} files\n`;

  test('the limits stay within the hard limits of the process that starts the container', () => {
    expect(limitOptions(limits('4096', '1000'))).toEqual([
      '--ulimit',
      'nofile=1024:4096',
      '--ulimit',
      'nproc=1000:1000',
    ]);
  });

  test('the limits are 65536 open files and 4096 processes when the process that starts the container has no hard limits', () => {
    expect(limitOptions(limits('unlimited', 'unlimited'))).toEqual([
      ...['--ulimit', 'nofile=1024:65536'],
      ...['--ulimit', 'nproc=4096:4096'],
    ]);
  });
});
