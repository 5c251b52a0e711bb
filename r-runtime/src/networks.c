/*
 * Keeps empty network namespaces for reuse: the kernel takes about 1 ms of CPU to make and remove a namespace
 * (../MEASUREMENTS.md). Reuse is safe, because a run has no capability in its namespace and leaves no sockets there.
 * Simultaneous runs never share a namespace; otherwise, a gap in the system-call filter could connect two accounts. If
 * the outer container refuses setns, each run makes its own namespace (confine.c).
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_namespace(pid_t pid, const char *kind) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * Called in a child. Creates a network namespace and, when owner_fd is negative, the user namespace that owns all
 * network namespaces. Does not return.
 */
static void make_namespaces(int owner_fd, int report_fd) {
  struct stage_error e = {STAGE_NONE, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (owner_fd < 0) e = make_user_namespace(CLONE_NEWNET, 0);
  else if (setns(owner_fd, CLONE_NEWUSER) < 0 || unshare(CLONE_NEWNET) < 0) e = (struct stage_error){STAGE_UNSHARE, errno};
  (void)write_full(report_fd, &e, sizeof e, -1);
  for (;;) pause();
}

/* A child process creates the namespaces: the zygote has several threads, so it cannot enter a user namespace. */
static struct stage_error add_network(struct networks *n, struct network *network) {
  struct stage_error e = {STAGE_PIPES, 0};
  int report[2];
  if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0) return (struct stage_error){STAGE_PIPES, errno};
  pid_t child = fork();
  if (child == 0) make_namespaces(n->owner_fd > 0 ? n->owner_fd : -1, report[1]);
  close(report[1]);
  if (child < 0) e = (struct stage_error){STAGE_FORK, errno};
  else if (read_full(report[0], &e, sizeof e, 10000) < 0) e = (struct stage_error){STAGE_UNSHARE, EIO};
  close(report[0]);
  if (e.stage == STAGE_NONE) {
    network->fd = open_namespace(child, "net");
    if (n->owner_fd <= 0) n->owner_fd = open_namespace(child, "user");
    if (network->fd < 0 || n->owner_fd < 0) e = (struct stage_error){STAGE_UNSHARE, errno};
    if (e.stage != STAGE_NONE && network->fd > 0) close(network->fd);
    if (e.stage != STAGE_NONE) network->fd = 0;
  }
  if (child <= 0) return e;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return e;
}

/* Tests, in a forked child process, whether a process may enter the namespace. @return 0 when it may. */
static int try_network(const struct networks *n, const struct network *network) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) _exit(enter_network(n->owner_fd, network->fd) == 0 ? 0 : 1);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : -1;
}

int enter_network(int owner_fd, int network_fd) {
  return setns(owner_fd, CLONE_NEWUSER) < 0 || setns(network_fd, CLONE_NEWNET) < 0 ? -1 : 0;
}

/* Called once: finds out whether runs can reuse network namespaces. */
void open_networks(const struct zygote *z, struct networks *n) {
  struct network *first = &n->all[0];
  n->is_open = z->mode == MODE_NAMESPACES && add_network(n, first).stage == STAGE_NONE && try_network(n, first) == 0;
}

/*
 * Chooses an unused network namespace for the next supervisor.
 * @return the namespace, whose `supervisor` the caller must set; NULL when no namespace can be reused or made.
 */
struct network *take_network(struct zygote *z, struct networks *n) {
  struct network *network = n->all;
  z->network_fd = -1;
  if (!n->is_open) return NULL;
  while (network->supervisor != 0) network++;
  if (network->fd == 0 && add_network(n, network).stage != STAGE_NONE) return NULL;
  z->network_fd = network->fd;
  z->owner_fd = n->owner_fd;
  return network;
}

/*
 * Makes the namespace of an ended supervisor available to another run. If processes of the ended run may still exist,
 * closes the namespace, so that no run uses it again.
 */
void leave_network(struct networks *n, pid_t supervisor, int has_left_nothing) {
  for (int i = 0; i < MAX_RUNS + SPARES; i++) {
    if (n->all[i].supervisor != supervisor) continue;
    n->all[i].supervisor = 0;
    if (has_left_nothing || n->all[i].fd == 0) continue;
    close(n->all[i].fd);
    n->all[i].fd = 0;
  }
}
