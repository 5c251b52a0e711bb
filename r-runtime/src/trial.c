/*
 * Forks a child of the zygote for a trial run. The child reports to the zygote:
 * - for constants.c: which constants the run loaded
 * - for pages.c: to which memory pages the run wrote
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_TIMEOUT_MS 20000

static int report_fd = -1;

/* Called in the zygote: reads the ranges that the child reports. @return number of ranges read. */
static size_t read_report(int fd, struct range *ranges) {
  const size_t capacity = MAX_RANGES * sizeof *ranges;
  size_t received = 0;
  struct pollfd p = {.fd = fd, .events = POLLIN};
  while (received < capacity && poll(&p, 1, TRIAL_TIMEOUT_MS) > 0) {
    ssize_t n = read(fd, (char *)ranges + received, capacity - received);
    if (n <= 0) break;
    received += (size_t)n;
  }
  return received / sizeof *ranges;
}

/*
 * Forks the child of a trial run.
 * @param ranges array of MAX_RANGES ranges. In the zygote, it receives the ranges that the child reported; in the
 * child, it stays unchanged.
 * @param count receives the number of reported ranges in the zygote, and 0 in the child.
 * @return 1 in the child, which must make a run and then call end_trial; 0 in the zygote.
 */
int fork_trial(struct range *ranges, size_t *count) {
  int report[2];
  *count = 0;
  if (pipe2(report, O_CLOEXEC) < 0) return 0;
  pid_t child = fork();
  report_fd = report[1];
  if (child == 0) {
    close(report[0]);
    return 1;
  }
  close(report[1]);
  if (child > 0) *count = read_report(report[0], ranges);
  close(report[0]);
  if (child <= 0) return 0;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}

/* Called in the child after the run: sends the ranges to the zygote and ends the child. */
void end_trial(const struct range *ranges, size_t count) {
  (void)write_full(report_fd, ranges, count * sizeof *ranges, TRIAL_TIMEOUT_MS);
  _exit(0);
}
