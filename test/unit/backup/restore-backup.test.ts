/** Which file a restore copies when a WAL segment is complete in the backup and incomplete in the archive. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresPrograms } from '../../../src/backup/postgres-programs.ts';
import { restoreBackup } from '../../../src/backup/restore-backup.ts';

const FIRST = '000000010000000000000002';
const SECOND = '000000010000000000000003';
const programs: PostgresPrograms = { run: async () => {}, runUntilSignal: async () => {} };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-restore-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
}

test('backup: a complete segment in the backup is restored instead of the incomplete file of the same segment in the archive', async () => {
  const facts = { startSegment: FIRST, restorableFrom: '2026-03-01T00:00:00Z' };
  await write(
    'all/tidemark-backups.json',
    JSON.stringify({ systemIdentifier: '1', timeline: 1, segmentBytes: 16 << 20 }),
  );
  await write('all/one/backup.json', JSON.stringify({ ...facts, postgresVersion: '17', timescaleVersion: '2' }));
  await write('all/one/cluster/postgresql.auto.conf', '');
  await write(`all/one/cluster/pg_wal/${FIRST}`, 'complete');
  await write(`all/wal/${FIRST}.partial`, 'cut off');
  await write(`all/wal/${SECOND}.partial`, 'newest');
  const request = { directory: join(folder, 'all'), target: join(folder, 'restored'), until: undefined };
  expect(await restoreBackup(programs, request)).toMatchObject({ segments: 2 });
  const restored = (name: string) => readFile(join(request.target, 'recovery_wal', name), 'utf8');
  expect([await restored(FIRST), await restored(SECOND)]).toEqual(['complete', 'newest']);
});
