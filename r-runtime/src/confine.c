/*
 * Confines a runner before it reads a script (R-H7). Mounts need capabilities, so the runner drops its capabilities
 * after the mounts. The system-call filter is installed last. A step that fails ends the run as a fault: there is no
 * weaker fallback.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/*
 * The uid of a script's process in its own user namespace: `nobody`. On the host, the process has the zygote's
 * unprivileged uid.
 */
#define INNER_UID 65534

/*
 * Maximum number of descriptors of a process. It also limits the memory of pipes (64 KiB each), for which there is no
 * rlimit.
 */
#define MAX_DESCRIPTORS 128

#define FAIL(name) return (struct stage_error){name, errno ? errno : EIO}
#define NO_ERROR (struct stage_error){STAGE_NONE, 0}

static int write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = write(fd, text, strlen(text));
  int error = errno;
  close(fd);
  errno = error;
  return n == (ssize_t)strlen(text) ? 0 : -1;
}

/*
 * Unshares the user namespace and the namespaces in `flags`. In the new user namespace, the process has `inner_id` as
 * its uid and gid. If `inner_id` is 0, the process keeps its uid and gid; it does not become root.
 */
struct stage_error make_user_namespace(int flags, unsigned inner_id) {
  char line[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | flags) < 0) FAIL(STAGE_UNSHARE);
  if (write_file("/proc/self/setgroups", "deny") < 0) FAIL(STAGE_ID_MAP);
  snprintf(line, sizeof line, "%u %u 1\n", inner_id ? inner_id : uid, uid);
  if (write_file("/proc/self/uid_map", line) < 0) FAIL(STAGE_ID_MAP);
  snprintf(line, sizeof line, "%u %u 1\n", inner_id ? inner_id : gid, gid);
  if (write_file("/proc/self/gid_map", line) < 0) FAIL(STAGE_ID_MAP);
  return NO_ERROR;
}

/*
 * Enters the run's network namespace, if the zygote has prepared one. Then creates the run's user namespace, and a pid
 * namespace whose pid 1 is the next child. The run has no capability in the network namespace, because another user
 * namespace owns the network namespace.
 */
struct stage_error enter_user_namespace(const struct zygote *z) {
  errno = 0;
  if (z->network_fd >= 0 && enter_network(z->owner_fd, z->network_fd) < 0) FAIL(STAGE_UNSHARE);
  return make_user_namespace(CLONE_NEWPID, INNER_UID);
}

/*
 * Gives the runner its own process group, so that kill(0, …) in the script spares the supervisor. The runner gets the
 * highest OOM score, so that the kernel kills runs before the zygote.
 */
struct stage_error separate_runner(const struct zygote *z) {
  if (setsid() < 0) FAIL(STAGE_SEPARATE);
  /* MODE_RLIMITS_ONLY ignores a failed write, because /proc may be missing there. */
  if (write_file("/proc/self/oom_score_adj", "1000") < 0 && z->mode == MODE_NAMESPACES) FAIL(STAGE_SEPARATE);
  return NO_ERROR;
}

/*
 * Does nothing outside of MODE_NAMESPACES. Enters new mount, IPC and UTS namespaces, and a new network namespace when
 * the zygote has prepared none. Makes all mounts read-only, mounts a private /proc, and covers the socket directory,
 * /dev/shm and the terminals. A runner calls this before it waits for a run.
 */
struct stage_error enter_namespaces(const struct zygote *z) {
  const unsigned long inert = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
  if (z->mode != MODE_NAMESPACES) return NO_ERROR;
  if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (z->network_fd < 0 ? CLONE_NEWNET : 0)) < 0) FAIL(STAGE_UNSHARE);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) FAIL(STAGE_MOUNT_PRIVATE);
  if (syscall(SYS_mount_setattr, -1, "/", AT_RECURSIVE, &read_only, sizeof read_only) < 0) FAIL(STAGE_READ_ONLY);
  /*
   * /proc is mounted read-only, so that a script can neither lower its OOM score nor change read-only memory through
   * /proc/self/mem.
   */
  if (mount("proc", "/proc", "proc", inert | MS_RDONLY, "subset=pid") < 0) FAIL(STAGE_PROC);
  if (mount("tmpfs", z->socket_dir, "tmpfs", inert | MS_RDONLY, "size=4k,mode=755") < 0) FAIL(STAGE_HIDE);
  if (mount("tmpfs", "/dev/shm", "tmpfs", inert | MS_RDONLY, "size=4k,mode=755") < 0) FAIL(STAGE_HIDE);
  /* Hides the terminals: runs would otherwise share them, and no limit covers the memory of terminal buffers. */
  if (mount("tmpfs", "/dev/pts", "tmpfs", inert | MS_RDONLY, "size=4k,mode=755") < 0 && errno != ENOENT) FAIL(STAGE_HIDE);
  if (sethostname("tidemark", 8) < 0) FAIL(STAGE_HIDE);
  return NO_ERROR;
}

static struct stage_error mount_tmp(const struct run_header *h) {
  char options[96];
  /* The size limit of a tmpfs does not cover its inodes; nr_inodes limits the kernel memory that the inodes take. */
  snprintf(options, sizeof options, "size=%llu,nr_inodes=16384,mode=1777", (unsigned long long)h->tmp_bytes);
  if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0) FAIL(STAGE_TMP);
  return NO_ERROR;
}

/*
 * Gives the descriptors fixed numbers, and closes all others. 0: request; 1 and 2: captured text; 3: result; 4: control
 * channel.
 */
static struct stage_error arrange_descriptors(const struct runner_fds *fds) {
  if (chdir("/tmp") < 0) FAIL(STAGE_DESCRIPTORS);
  /* Copies the descriptors to numbers from 64 on, so that the dup2 calls below do not overwrite one of them. */
  int request = fcntl(fds->request_fd, F_DUPFD_CLOEXEC, 64), text = fcntl(fds->text_fd, F_DUPFD_CLOEXEC, 64);
  int result = fcntl(fds->result_fd, F_DUPFD_CLOEXEC, 64), control = fcntl(fds->control_fd, F_DUPFD_CLOEXEC, 64);
  if (request < 0 || text < 0 || result < 0 || control < 0) FAIL(STAGE_DESCRIPTORS);
  if (dup2(request, 0) < 0 || dup2(text, 1) < 0 || dup2(text, 2) < 0) FAIL(STAGE_DESCRIPTORS);
  /* Close-on-exec: programs that a script starts do not inherit these descriptors. */
  if (dup3(result, RUNNER_RESULT_FD, O_CLOEXEC) < 0 || dup3(control, RUNNER_CONTROL_FD, O_CLOEXEC) < 0) FAIL(STAGE_DESCRIPTORS);
  if (syscall(SYS_close_range, 5u, ~0u, 0u) < 0) FAIL(STAGE_DESCRIPTORS);
  return NO_ERROR;
}

static int limit(int resource, uint64_t soft, uint64_t hard) {
  struct rlimit r = {.rlim_cur = soft, .rlim_max = hard};
  return setrlimit(resource, &r);
}

static struct stage_error set_rlimits(const struct zygote *z, const struct run_header *h) {
  uint64_t address = z->base_address_bytes + h->memory_bytes;
  /*
   * The supervisor's limit is lower by 8, so that too many processes exceed that limit first and are reported
   * (supervise.c). Only RLIMIT_NPROC also counts threads.
   */
  uint64_t processes = (uint64_t)h->max_processes + 8;
  if (limit(RLIMIT_AS, address, address) < 0 || limit(RLIMIT_CPU, h->cpu_sec, (uint64_t)h->cpu_sec + 1) < 0 ||
      limit(RLIMIT_FSIZE, h->tmp_bytes, h->tmp_bytes) < 0 || limit(RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS) < 0 ||
      limit(RLIMIT_CORE, 0, 0) < 0 || limit(RLIMIT_MEMLOCK, 0, 0) < 0 || limit(RLIMIT_MSGQUEUE, 0, 0) < 0 ||
      limit(RLIMIT_SIGPENDING, 256, 256) < 0)
    FAIL(STAGE_RLIMITS);
  /* Without user namespaces, RLIMIT_NPROC counts every process of the uid, including the zygote and the supervisors. */
  if (z->mode == MODE_RLIMITS_ONLY) processes += 256;
  if (limit(RLIMIT_NPROC, processes, processes) < 0) FAIL(STAGE_RLIMITS);
  return NO_ERROR;
}

static struct stage_error drop_privileges(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}, {0}};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) FAIL(STAGE_CAPABILITIES);
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) FAIL(STAGE_CAPABILITIES);
  for (int cap = 0; cap < 64; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL && errno != EPERM) FAIL(STAGE_CAPABILITIES);
  if (syscall(SYS_capset, &header, none) < 0) FAIL(STAGE_CAPABILITIES);
  return NO_ERROR;
}

static struct stage_error install_filter(const struct zygote *z) {
  struct sock_fprog program = {.len = (unsigned short)(z->filter_bytes / sizeof(struct sock_filter)), .filter = z->filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) FAIL(STAGE_SECCOMP);
  return NO_ERROR;
}

struct stage_error confine_runner(const struct zygote *z, const struct run_header *h, const struct runner_fds *fds) {
  struct stage_error e = NO_ERROR;
  errno = 0;
  if (z->mode == MODE_NAMESPACES) e = mount_tmp(h);
  if (!e.stage) e = arrange_descriptors(fds);
  if (!e.stage) e = set_rlimits(z, h);
  if (!e.stage) e = drop_privileges();
  if (!e.stage) e = install_filter(z);
  return e;
}
