/** Tests which WAL files a restore copies, and what the error message advises when a WAL segment is missing. */
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresPrograms } from '../../../src/backup/postgres-programs.ts';
import { restoreBackup } from '../../../src/backup/restore-backup.ts';

const FIRST = '000000010000000000000002';
const SECOND = '000000010000000000000003';
const THIRD = '000000010000000000000004';
const END = '2026-03-01T00:00:00Z';
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

/** Writes the backup `one`, which ended at END and holds the first segment of its WAL. */
async function writeBackup(directory: string): Promise<void> {
  const owner = { systemIdentifier: '1', timeline: 1, segmentBytes: 16 << 20 };
  await write(`${directory}/tidemark-backups.json`, JSON.stringify(owner));
  await writeFacts(directory, 'one', END);
  await write(`${directory}/one/cluster/postgresql.auto.conf`, '');
  await write(`${directory}/one/cluster/pg_wal/${FIRST}`, 'complete');
}

/** Describes a backup that begins with the segment FIRST. */
async function writeFacts(directory: string, name: string, restorableFrom: string): Promise<void> {
  const facts = { startSegment: FIRST, restorableFrom, postgresVersion: '17', timescaleVersion: '2' };
  await write(`${directory}/${name}/backup.json`, JSON.stringify(facts));
}

test('backup: a complete segment in the backup is restored instead of the incomplete file of the same segment in the archive', async () => {
  await writeBackup('all');
  await write(`all/wal/${FIRST}.partial`, 'cut off');
  await write(`all/wal/${SECOND}.partial`, 'newest');
  const request = { directory: join(folder, 'all'), target: join(folder, 'restored'), until: undefined };
  expect(await restoreBackup(programs, request)).toMatchObject({ segments: 2 });
  const restored = (name: string) => readFile(join(request.target, 'recovery_wal', name), 'utf8');
  expect([await restored(FIRST), await restored(SECOND)]).toEqual(['complete', 'newest']);
});

test.each([
  ['early', '2026-02-28T23:59:59.000Z', 'before the end of every backup', ''],
  [
    'late',
    '2026-03-01T01:00:00.000Z',
    'after the end of a backup',
    ', or restore with --to 2026-03-01T01:00:00.000Z or earlier',
  ],
])('backup: a restore from folder %s is refused when the archive has a gap that begins at %s (%s)', async (...row) => {
  const [name, end, _, advice] = row;
  await writeBackup(name);
  await utimes(join(folder, name, 'one/cluster/pg_wal', FIRST), new Date(end), new Date(end));
  await write(`${name}/wal/${THIRD}`, 'after the gap');
  const directory = join(folder, name);
  const request = { directory, target: join(folder, 'none'), until: undefined };
  await expect(restoreBackup(programs, request)).rejects.toMatchObject({
    message: `WAL segment ${SECOND} is missing in ${join(directory, 'wal')}; add the segment${advice}`,
  });
});

test.each([
  ['only', [], ''],
  ['older', ['2026-02-01T00:00:00Z'], `, or restore an older backup with a --to before ${END}`],
] as const)(
  'backup: if the first WAL segment of a backup is missing, restore advises an older backup only when one exists (folder %s)',
  async (name, older, advice) => {
    await writeBackup(name);
    await rm(join(folder, name, 'one/cluster/pg_wal', FIRST));
    for (const end of older) await writeFacts(name, 'before', end);
    const directory = join(folder, name);
    const request = { directory, target: join(folder, 'none'), until: undefined };
    await expect(restoreBackup(programs, request)).rejects.toMatchObject({
      message: `${join(directory, 'wal')} lacks WAL segment ${FIRST}, the first segment of backup one; add the segment${advice}`,
    });
  },
);
