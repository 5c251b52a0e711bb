/*
 * Build-time tool: writes the seccomp program of the runners to standard output. An allow-list: what R and ordinary
 * command-line programs need. Everything else is refused with EPERM, so a script sees an error and not a dead process.
 * usage: seccomp_filter namespaces|rlimits-only > file
 */
#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static const char *const ALLOWED[] = {
    /* files */
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "open",
    "openat", "openat2", "creat", "close", "close_range", "dup", "dup2", "dup3", "fcntl", "flock", "fsync", "fdatasync",
    "truncate", "ftruncate", "fallocate", "fadvise64", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs",
    "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd",
    "chdir", "fchdir", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link",
    "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "umask", "utime", "utimes",
    "utimensat", "futimesat", "lseek", "sendfile", "copy_file_range", "splice", "tee", "mknod", "mknodat", "getxattr",
    "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    /* memory */
    "mmap", "munmap", "mremap", "mprotect", "brk", "madvise", "msync", "mincore", "membarrier",
    /* signals */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "rt_sigqueueinfo", "sigaltstack", "kill", "tkill", "tgkill", "pause",
    /* processes and threads; clone is below */
    "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "getpid", "getppid", "gettid",
    "getpgid", "getpgrp", "getsid", "set_tid_address", "set_robust_list", "get_robust_list", "futex", "sched_yield",
    "sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_min",
    "sched_get_priority_max", "getpriority", "setpriority", "getrlimit", "setrlimit", "prlimit64", "getrusage", "times",
    "sysinfo", "uname", "arch_prctl", "restart_syscall", "rseq", "getcpu", "capget",
    /* time */
    "time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "alarm", "setitimer",
    "getitimer", "timer_create", "timer_settime", "timer_gettime", "timer_delete", "timer_getoverrun",
    "timerfd_create", "timerfd_settime", "timerfd_gettime",
    /* waiting and pipes */
    "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    "epoll_pwait2", "eventfd", "eventfd2", "pipe", "pipe2", "signalfd", "signalfd4",
    /* sockets that exist; making one is below */
    "bind", "connect", "listen", "accept", "accept4", "getsockname", "getpeername", "setsockopt", "getsockopt",
    "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown",
    /* identity and chance */
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getrandom"};

/* Without a pid namespace a run is killed by its process group, which it must therefore not leave. */
static const char *const ALLOWED_IN_NAMESPACES[] = {"setpgid", "setsid"};

#define NEW_NAMESPACES                                                                                          \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
   CLONE_NEWTIME)

static int allow(scmp_filter_ctx filter, const char *name) {
  int number = seccomp_syscall_resolve_name(name);
  /* Old calls do not exist on every architecture. */
  return number < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

static int allow_all(scmp_filter_ctx filter, const char *const *names, size_t count) {
  int rc = 0;
  for (size_t i = 0; i < count && rc == 0; i++) rc = allow(filter, names[i]);
  return rc;
}

/* Naming threads and looking at oneself; not PR_SET_PDEATHSIG, which ties the run to its supervisor. */
static const unsigned PRCTL_OPTIONS[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                                         PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_PDEATHSIG};

/* Asking whether a descriptor is a terminal and how much it holds; nothing that feeds or drives a device. */
static const unsigned IOCTL_REQUESTS[] = {TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};

/* Equality over the whole register: a value that only looks allowed after truncation is not. */
static int allow_values(scmp_filter_ctx filter, int call, unsigned argument, const unsigned *values, size_t count) {
  int rc = 0;
  for (size_t i = 0; i < count && rc == 0; i++)
    rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(argument, SCMP_CMP_EQ, values[i]));
  return rc;
}

/* Calls whose arguments decide. */
static int allow_with_conditions(scmp_filter_ctx filter) {
  int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, NEW_NAMESPACES, 0));
  /* Flags of clone3 lie in memory, where a filter cannot look; libc falls back to clone on ENOSYS. */
  if (!rc) rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  /* Local sockets alone: no internet, netlink, packet, vsock. */
  if (!rc) rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
  if (!rc) rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
  if (!rc) rc = allow_values(filter, SCMP_SYS(prctl), 0, PRCTL_OPTIONS, sizeof PRCTL_OPTIONS / sizeof *PRCTL_OPTIONS);
  if (!rc) rc = allow_values(filter, SCMP_SYS(ioctl), 1, IOCTL_REQUESTS, sizeof IOCTL_REQUESTS / sizeof *IOCTL_REQUESTS);
  return rc;
}

int main(int argc, char **argv) {
  int has_namespaces = argc == 2 && strcmp(argv[1], "namespaces") == 0;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return 1;
  int rc = allow_all(filter, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
  if (!rc && has_namespaces) rc = allow_all(filter, ALLOWED_IN_NAMESPACES, 2);
  if (!rc) rc = allow_with_conditions(filter);
  /* A binary tree of comparisons instead of a list: every system call passes the filter. */
  if (!rc) rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (!rc) rc = seccomp_export_bpf(filter, 1);
  seccomp_release(filter);
  if (rc) fprintf(stderr, "seccomp_filter: %s\n", strerror(-rc));
  return rc ? 1 : 0;
}
