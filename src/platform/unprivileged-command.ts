/**
 * Starts a command under an unprivileged id although it needs directories that id cannot walk to, such as a cache below
 * a private home: bwrap resolves every path it binds. So root first binds them below /mnt in a mount namespace of its
 * own, and drops its rights there.
 */

const BIND_AND_DROP_RIGHTS = `
  id=$1
  mount -t tmpfs -o mode=755 tidemark /mnt
  shift
  while [ "$1" != -- ]; do
    mkdir "$2"
    mount --bind "$1" "$2"
    shift 2
  done
  shift
  exec setpriv --reuid "$id" --regid "$id" --clear-groups --pdeathsig KILL -- "$@"
`;

export interface UnprivilegedCommand {
  /** Numeric user and group to become. */
  readonly id: number;
  /** Directory on the host → where it is bound, directly below /mnt. */
  readonly directories: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** The command line that does it; only root can run it. The command is killed when the process that starts it dies. */
export function unprivilegedCommand({ id, directories, command }: UnprivilegedCommand): readonly string[] {
  const binds = Object.entries(directories).flat();
  return ['unshare', '--mount', 'sh', '-euc', BIND_AND_DROP_RIGHTS, 'sh', String(id), ...binds, '--', ...command];
}
