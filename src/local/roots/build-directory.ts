/**
 * The working directory for building a root file system. The directory is in the system's temporary directory, because
 * mmdebstrap reads packages as an unprivileged user who cannot enter a private home. The name of the directory contains
 * the process id of the build, so that a later build can remove the directories of interrupted builds. Everything
 * mounted in the directory is unmounted before the directory is removed: a removal that enters a mounted /proc or /dev
 * would delete the machine's own files.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^tidemark-build-(\d+)-/;

/** Creates a directory that other users can enter. The caller removes it with `removeBuildDirectory`. */
export function makeBuildDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, `tidemark-build-${process.pid}-`));
  chmodSync(directory, 0o755);
  return directory;
}

/** Removes the directories of builds whose process has ended. @returns their paths. */
export function sweepBuildDirectories(parent = tmpdir()): readonly string[] {
  const left = readdirSync(parent).filter((name) => {
    const pid = NAME.exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  });
  const paths = left.map((name) => join(parent, name));
  for (const path of paths) removeBuildDirectory(path);
  return paths;
}

/**
 * Unmounts every mount below the directory, then removes the directory.
 * @throws {Error} when a mount remains; nothing is removed then.
 */
export function removeBuildDirectory(directory: string): void {
  if (!existsSync(directory)) return;
  for (const mount of findMounts(directory)) spawnSync('umount', ['--lazy', mount]);
  const left = findMounts(directory);
  if (left.length > 0)
    throw new Error(`cannot remove ${directory}: still mounted: ${left.join(', ')}; unmount them and try again`);
  rmSync(directory, { recursive: true, force: true });
}

/** @returns mount points below the directory, longest path first. */
export function findMounts(directory: string): readonly string[] {
  const prefix = `${realpathSync(directory)}/`;
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))),
    )
    .filter((mount) => mount.startsWith(prefix))
    .sort((a, b) => b.length - a.length);
}
