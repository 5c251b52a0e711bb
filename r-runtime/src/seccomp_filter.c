/*
 * Build-time tool: writes the seccomp filter of the runners to standard output. The filter allows the system calls that
 * R and ordinary command-line programs need. Other calls of this architecture fail with EPERM (clone3 with ENOSYS). A
 * call of another architecture kills its thread, which is libseccomp's default.
 * usage: seccomp_filter namespaces|rlimits-only > file
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

static const char *const ALLOWED[] = {
    /* files */
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "open",
    "openat", "openat2", "creat", "close", "close_range", "dup", "dup2", "dup3", "flock", "fsync", "fdatasync",
    "truncate", "ftruncate", "fallocate", "fadvise64", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs",
    "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd",
    "chdir", "fchdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link",
    "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "umask", "utime", "utimes",
    "utimensat", "futimesat", "lseek", "sendfile", "copy_file_range", "splice", "tee", "mknod", "mknodat", "getxattr",
    "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    /* memory */
    "mmap", "munmap", "mremap", "mprotect", "brk", "madvise", "msync", "mincore", "membarrier",
    /* calls that handle signals; for calls that send signals, see ALLOWED_IN_NAMESPACES */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "pause",
    /* calls that concern processes and threads; for clone, see allow_with_conditions */
    "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "getpid", "getppid", "gettid",
    "getpgid", "getpgrp", "getsid", "set_tid_address", "set_robust_list", "get_robust_list", "futex", "sched_yield",
    "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_min",
    "sched_get_priority_max", "getpriority", "getrlimit", "setrlimit", "getrusage", "times",
    "sysinfo", "uname", "arch_prctl", "restart_syscall", "rseq", "getcpu", "capget",
    /* time */
    "time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "alarm", "setitimer",
    "getitimer", "timer_create", "timer_settime", "timer_gettime", "timer_delete", "timer_getoverrun",
    "timerfd_create", "timerfd_settime", "timerfd_gettime",
    /* calls that wait for events, and calls that create pipes */
    "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    "epoll_pwait2", "eventfd", "eventfd2", "pipe", "pipe2", "signalfd", "signalfd4",
    /* queries of existing sockets; no call may create a socket, because socket buffers count towards no limit */
    "getsockname", "getpeername", "getsockopt",
    /* user and group ids, and random numbers */
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getrandom"};

/*
 * Calls that are allowed only with a pid namespace; kill(0, …) is always allowed. Without a pid namespace:
 * - setpgid, setsid: the script could leave its process group, through which the supervisor kills the run.
 * - the other calls: the script could signal the zygote and other runs, because they have the same uid.
 */
static const char *const ALLOWED_IN_NAMESPACES[] = {"setpgid", "setsid", "kill", "tkill", "tgkill", "rt_sigqueueinfo"};

#define NEW_NAMESPACES                                                                                          \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
   CLONE_NEWTIME)

static int allow(scmp_filter_ctx filter, const char *name) {
  int number = seccomp_syscall_resolve_name(name);
  /* Some architectures lack older system calls, such as open and fork. A missing call needs no rule. */
  return number < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

static int allow_all(scmp_filter_ctx filter, const char *const *names, size_t count) {
  int rc = 0;
  for (size_t i = 0; i < count && rc == 0; i++) rc = allow(filter, names[i]);
  return rc;
}

/*
 * Allows a thread to name itself, and allows queries about the caller. Refuses PR_SET_PDEATHSIG, because it would let
 * the run outlive its supervisor. Refuses PR_SET_DUMPABLE, because it would hide the memory of a process from its
 * supervisor.
 */
static const unsigned PRCTL_OPTIONS[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                                         PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_PDEATHSIG};

/*
 * The allowed requests query a terminal, query the number of readable bytes, or set a flag of a descriptor. All other
 * requests are refused, including those that control a device.
 */
static const unsigned IOCTL_REQUESTS[] = {TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};

/*
 * Leaves out F_SETPIPE_SZ, because it would let a pipe hold 1 MiB that no limit counts. Leaves out F_SETOWN, because it
 * would let a script choose the process that gets the signals of a descriptor.
 */
static const unsigned FCNTL_COMMANDS[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK,
                                          F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ};

/*
 * The only pid that a call of prlimit64 may name; without namespaces, also the only pid that a call of kill may name.
 * For prlimit64, 0 is the caller. For kill, 0 is the caller's process group.
 */
static const unsigned SELF[] = {0};

#define COUNT(array) (sizeof array / sizeof *array)

/*
 * Allows a call when its argument is one of the values. The filter compares the whole register, so it refuses an
 * argument of which only the lower 32 bits equal an allowed value.
 */
static int allow_values(scmp_filter_ctx filter, int call, unsigned argument, const unsigned *values, size_t count) {
  int rc = 0;
  for (size_t i = 0; i < count && rc == 0; i++)
    rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(argument, SCMP_CMP_EQ, values[i]));
  return rc;
}

/* Adds the rules for calls that are allowed only with certain arguments, and the rule that refuses clone3. */
static int allow_with_conditions(scmp_filter_ctx filter) {
  int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, NEW_NAMESPACES, 0));
  /*
   * A filter cannot check the flags of clone3: they are in memory, which a filter cannot read. On ENOSYS, libc calls
   * clone instead.
   */
  if (!rc) rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (!rc) rc = allow_values(filter, SCMP_SYS(fcntl), 1, FCNTL_COMMANDS, COUNT(FCNTL_COMMANDS));
  if (!rc) rc = allow_values(filter, SCMP_SYS(prlimit64), 0, SELF, COUNT(SELF));
  if (!rc) rc = allow_values(filter, SCMP_SYS(prctl), 0, PRCTL_OPTIONS, COUNT(PRCTL_OPTIONS));
  if (!rc) rc = allow_values(filter, SCMP_SYS(ioctl), 1, IOCTL_REQUESTS, COUNT(IOCTL_REQUESTS));
  return rc;
}

int main(int argc, char **argv) {
  int has_namespaces = argc == 2 && strcmp(argv[1], "namespaces") == 0;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return 1;
  int rc = allow_all(filter, ALLOWED, COUNT(ALLOWED));
  if (!rc && has_namespaces) rc = allow_all(filter, ALLOWED_IN_NAMESPACES, COUNT(ALLOWED_IN_NAMESPACES));
  if (!rc && !has_namespaces) rc = allow_values(filter, SCMP_SYS(kill), 0, SELF, COUNT(SELF));
  if (!rc) rc = allow_with_conditions(filter);
  /* The filter checks every system call, so it must be fast: a binary tree of comparisons is faster than a list. */
  if (!rc) rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (!rc) rc = seccomp_export_bpf(filter, 1);
  seccomp_release(filter);
  if (rc) fprintf(stderr, "seccomp_filter: %s\n", strerror(-rc));
  return rc ? 1 : 0;
}
