/**
 * Builds a command line that runs a command under an unprivileged id. Root first binds directories to mount points
 * below /mnt, because the id cannot reach all directories. Neither can bwrap, which has only the rights of the id.
 */

const BIND_AND_DROP_PRIVILEGES = `
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
  /** Number that is both the user id and the group id of the command. */
  readonly id: number;
  /** Mount point of each directory of the host. Every mount point is directly below /mnt. */
  readonly directories: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/**
 * @returns a command line that runs `command` under the unprivileged `id`. Only root can run this command line.
 * `command` is killed when its parent process dies.
 */
export function unprivilegedCommand({ id, directories, command }: UnprivilegedCommand): readonly string[] {
  const binds = Object.entries(directories).flat();
  return ['unshare', '--mount', 'sh', '-euc', BIND_AND_DROP_PRIVILEGES, 'sh', String(id), ...binds, '--', ...command];
}
