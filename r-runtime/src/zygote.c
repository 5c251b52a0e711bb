/*
 * Entry points that R calls through .C. tm_serve turns an R process that has loaded its packages into a zygote, which
 * keeps forked supervisors waiting on its socket. The zygote never reads a request, so no account's data enter the
 * process that all runs are forked from.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define SPARE_TIMEOUT_US 3000000u

static int listen_on(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  unlink(path);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 128) < 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static int read_filter(const char *path, struct zygote *z) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int is_read = fstat(fd, &info) == 0 && info.st_size > 0 && (z->filter = malloc((size_t)info.st_size)) != NULL &&
                read_full(fd, z->filter, (size_t)info.st_size, -1) == 0;
  close(fd);
  z->filter_bytes = is_read ? (size_t)info.st_size : 0;
  return is_read ? 0 : -1;
}

/* Measures the zygote's memory, which does not count against a script. Assumes fixed sizes when /proc is missing. */
static void measure_self(struct zygote *z) {
  unsigned long mapped = 1ul << 18, resident = 1ul << 15;
  FILE *f = fopen("/proc/self/statm", "re");
  if (f) {
    if (fscanf(f, "%lu %lu", &mapped, &resident) != 2) mapped = 1ul << 18;
    fclose(f);
  }
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  z->base_address_bytes = mapped * page;
  z->base_resident_bytes = resident * page;
  z->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Collapses the heap into huge pages, so that fork and exit of a child touch dozens of page table entries instead of
 * 26,000. Best effort: a failure makes runs slower, but does not change their results.
 */
static void collapse_heap(void) {
  const uintptr_t huge = 2u << 20;
  FILE *f = fopen("/proc/self/maps", "re");
  char line[512], rights[5];
  unsigned long from, to, inode;
  while (f && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &from, &to, rights, &inode) != 4) continue;
    if (inode != 0 || strcmp(rights, "rw-p") != 0 || strstr(line, "[stack]")) continue;
    for (uintptr_t at = (from + huge - 1) & ~(huge - 1); at + huge <= to; at += huge)
      (void)madvise((void *)at, huge, MADV_COLLAPSE);
  }
  if (f) fclose(f);
}

/*
 * - waiting: pids of the supervisors that wait for a connection; 0 in an unused element
 * - last_notice_us: time when each of these supervisors was forked, last sent a notice, or was killed
 * - serving: number of supervisors that serve a connection
 * - networks: network namespaces of runs
 */
struct spares {
  pid_t waiting[SPARES];
  uint64_t last_notice_us[SPARES];
  int serving;
  struct networks networks;
};

static int find_waiting(const struct spares *s, pid_t pid) {
  for (int i = 0; i < SPARES; i++)
    if (s->waiting[i] == pid) return i;
  return -1;
}

static void read_notices(struct spares *s, int notified_fd) {
  struct notice n;
  while (read(notified_fd, &n, sizeof n) == sizeof n) {
    int i = find_waiting(s, n.pid);
    if (i < 0) continue;
    s->last_notice_us[i] = monotonic_us();
    if (n.kind != NOTICE_SERVING) continue;
    s->waiting[i] = 0;
    s->serving++;
  }
}

static void reap_ended(struct spares *s) {
  pid_t pid;
  int status;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    int i = find_waiting(s, pid);
    /* A supervisor exits with status 0 only after all processes of its run have ended, so the network can be reused. */
    leave_network(&s->networks, pid, WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (i < 0) s->serving--;
    else s->waiting[i] = 0;
  }
}

/*
 * Kills waiting supervisors that send no heartbeat. Otherwise, a supervisor that hangs would keep its place and serve
 * no run.
 */
static void kill_silent_spares(struct spares *s) {
  uint64_t now = monotonic_us();
  for (int i = 0; i < SPARES; i++) {
    if (s->waiting[i] == 0 || now - s->last_notice_us[i] < SPARE_TIMEOUT_US) continue;
    fprintf(stderr, "supervisor %d sends no heartbeat and is killed\n", (int)s->waiting[i]);
    kill(s->waiting[i], SIGKILL);
    s->last_notice_us[i] = now;
  }
}

/*
 * Sends the heartbeat to the calculator, but only while a supervisor exists. The calculator replaces a zygote that
 * sends no heartbeat.
 */
static void send_heartbeat(const struct spares *s, uint64_t *next_us) {
  uint64_t now = monotonic_us();
  int can_serve = s->serving > 0;
  for (int i = 0; i < SPARES; i++) can_serve |= s->waiting[i] != 0;
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  if (now < *next_us || !can_serve || poll(&out, 1, 0) != 1) return;
  *next_us = now + HEARTBEAT_MS * 1000u;
  if (write(STDOUT_FILENO, "alive\n", 6) < 0) perror("heartbeat");
}

/* @return 1 in a new runner, 0 in the zygote. */
static int fork_spares(struct zygote *z, struct spares *s, struct run_header *header) {
  for (int i = 0; i < SPARES; i++) {
    if (s->waiting[i] != 0 || s->serving >= MAX_RUNS) continue;
    struct network *network = take_network(z, &s->networks);
    pid_t child = spawn_supervisor(z, header);
    if (child == 0) return 1;
    if (child < 0) continue;
    if (network) network->supervisor = child;
    s->waiting[i] = child;
    s->last_notice_us[i] = monotonic_us();
  }
  return 0;
}

/*
 * Keeps a stock of supervisors that wait for a run. Each supervisor is forked together with a runner.
 * @return 0 in each new runner; -1 in the zygote, after an error. The zygote does not return otherwise.
 */
static int keep_spares(struct zygote *z, struct run_header *header) {
  static struct spares spares;
  int notify[2];
  if (pipe2(notify, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
  z->notify_fd = notify[1];
  uint64_t next_heartbeat_us = 0;
  open_networks(z, &spares.networks);
  for (;;) {
    if (fork_spares(z, &spares, header)) return 0;
    struct pollfd p = {.fd = notify[0], .events = POLLIN};
    /* The wait limits the rate of forks: without it, spares that die right after their fork are replaced at once. */
    if (poll(&p, 1, HEARTBEAT_MS) < 0 && errno != EINTR) return -1;
    read_notices(&spares, notify[0]);
    reap_ended(&spares);
    kill_silent_spares(&spares);
    send_heartbeat(&spares, &next_heartbeat_us);
  }
}

/*
 * Serves runs. Returns once in each runner; returns in the zygote only after a failure.
 * @param limits out: max_points and max_text_bytes of the run.
 * @param result_fd out: in a runner, the descriptor for its result; in the zygote, -1.
 */
void tm_serve(char **socket_path, char **filter_path, char **supervisor_path, int *mode, double *limits, int *result_fd) {
  static struct zygote z;
  struct run_header header;
  /* Closes descriptors inherited from the launcher: a script could use them to reach files outside the container. */
  syscall(SYS_close_range, 3u, ~0u, 0u);
  *result_fd = -1;
  z = (struct zygote){.mode = *mode};
  collapse_heap();
  measure_self(&z);
  char *directory = strdup(*socket_path);
  if (!directory) return;
  *strrchr(directory, '/') = 0;
  z.socket_dir = directory;
  z.supervisor_path = *supervisor_path;
  if (read_filter(*filter_path, &z) < 0) return perror("seccomp filter");
  if ((z.listen_fd = listen_on(*socket_path)) < 0) return perror("zygote socket");
  printf("ready\n");
  fflush(stdout);
  drop_foreign_pages();
  /*
   * The zygote must not allocate memory after this call: an allocation would write to the reserved empty pages, and
   * every run would copy the written pages.
   */
  reserve_fresh();
  if (keep_spares(&z, &header) < 0) return perror("zygote");
  *result_fd = RUNNER_RESULT_FD;
  limits[0] = header.max_points;
  limits[1] = header.max_text_bytes;
}

/* Called when the request has been read from standard input. Replaces standard input with /dev/null for the script. */
void tm_close_request(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    dup2(fd, 0);
    close(fd);
  }
}

/* Records the line that the script has reached. The trailer reports the last recorded line, even after a kill. */
void tm_reach_line(int *line) {
  reach_line(*line);
}

/*
 * @param count number of bytes; a double, because R's integers are below 2^31.
 * @param ok (output) 1 if all bytes were written, otherwise 0.
 */
void tm_write(int *fd, unsigned char *bytes, double *count, int *ok) {
  *ok = write_full(*fd, bytes, (size_t)*count, -1) == 0;
}

/*
 * Reports to the supervisor that the result is written. The supervisor then measures this process and kills it, so
 * finalizers and exit handlers that a script registered never run.
 */
void tm_exit(int *code) {
  const char done = MESSAGE_DONE;
  fflush(stdout);
  fflush(stderr);
  char never;
  if (write_full(RUNNER_CONTROL_FD, &done, 1, 1000) == 0) (void)read_full(RUNNER_CONTROL_FD, &never, 1, -1);
  _exit(*code);
}
