/** Tests which directories are accepted as backup directories, and which are refused. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDirectory, listBackups, readOwner } from '../../../src/backup/backup-directory.ts';

const OWNER = { systemIdentifier: '1', timeline: 1, segmentBytes: 16 << 20 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-claim-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('backup: a backup directory that a killed process left incomplete is completed by the next process', async () => {
  const [withoutWal, withoutOwner] = [join(folder, 'first'), join(folder, 'second')];
  await claimDirectory(withoutWal, OWNER);
  await rm(join(withoutWal, 'wal'), { recursive: true });
  await mkdir(withoutOwner);
  await writeFile(join(withoutOwner, 'tidemark-backups.json.new'), '{');
  for (const directory of [withoutWal, withoutOwner]) {
    await claimDirectory(directory, OWNER);
    expect((await readdir(directory)).sort()).toEqual(['tidemark-backups.json', 'wal']);
    expect(await readOwner(directory)).toEqual(OWNER);
  }
});

test('backup: a directory that contains nothing but a folder `wal` is refused as a backup directory', async () => {
  const directory = join(folder, 'foreign');
  await mkdir(join(directory, 'wal'), { recursive: true });
  await expect(claimDirectory(directory, OWNER)).rejects.toThrow(
    `${directory} is not a backup directory: it has no readable tidemark-backups.json; choose a directory that the command \`backup\` wrote`,
  );
});

test('backup: a damaged file in a backup directory is refused, and the error names the path of the file and the fault', async () => {
  const directory = join(folder, 'damaged');
  await claimDirectory(directory, OWNER);
  const [owner, facts] = [join(directory, 'tidemark-backups.json'), join(directory, 'one', 'backup.json')];
  await mkdir(dirname(facts));
  await writeFile(facts, '{"startSegment":');
  await expect(listBackups(directory)).rejects.toThrow(new RegExp(`${facts} is damaged \\(.*JSON.*\\); replace it`));
  await writeFile(owner, '{}');
  await expect(readOwner(directory)).rejects.toThrow(new RegExp(`${owner} is damaged \\(\\w+: .*\\); replace it`));
});
