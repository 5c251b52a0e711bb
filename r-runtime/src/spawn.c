/*
 * Starts a supervisor and its runner, and prepares their namespaces, before a run needs them. So a client does not
 * normally wait for the fork of a large process. The zygote makes a child by vfork, and waits while this child uses the
 * zygote's memory. With namespaces, the child enters a user namespace. The child then forks the runner, and becomes the
 * supervisor by execve. So a run forks R only once, and a supervisor holds none of R's memory.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REQUEST, RESULT, TEXT, CONTROL, CHANNELS };
struct channels {
  int pairs[CHANNELS][2];
  int line_fd;
};

static volatile int32_t *reached_line;

void reach_line(int32_t line) {
  if (reached_line) *reached_line = line;
}

/*
 * Turns this process into the runner: enters the namespaces before a run needs them, waits for the header of a run,
 * confines the process fully and returns to R.
 */
static void become_runner(const struct zygote *z, struct run_header *h, const struct channels *c) {
  /*
   * Closes the supervisor's ends of the channels in the runner. Otherwise, the runner would not see end of file when
   * the supervisor dies.
   */
  for (int i = 0; i < CHANNELS; i++) close(c->pairs[i][i == REQUEST ? 1 : 0]);
  const struct runner_fds fds = {c->pairs[REQUEST][0], c->pairs[RESULT][1], c->pairs[TEXT][1], c->pairs[CONTROL][1]};
  const char ready = MESSAGE_READY;
  int control = fds.control_fd;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  void *shared = mmap(NULL, sizeof *reached_line, PROT_READ | PROT_WRITE, MAP_SHARED, c->line_fd, 0);
  if (shared != MAP_FAILED) reached_line = shared;
  struct stage_error e = separate_runner(z);
  if (e.stage == STAGE_NONE) e = enter_namespaces(z);
  if (e.stage == STAGE_NONE) {
    touch_pages();
    if (read_full(control, h, sizeof *h, -1) < 0) _exit(97);
    e = confine_runner(z, h, &fds);
    /* Once STAGE_DESCRIPTORS has succeeded, the control socket is open only as descriptor RUNNER_CONTROL_FD. */
    if (e.stage == STAGE_NONE || e.stage > STAGE_DESCRIPTORS) control = RUNNER_CONTROL_FD;
  }
  if (e.stage == STAGE_NONE && write_full(control, &ready, 1, -1) == 0) return;
  (void)write_full(control, &e, sizeof e, 1000);
  _exit(97);
}

static int open_channels(struct channels *c) {
  for (int i = 0; i < CONTROL; i++)
    if (pipe2(c->pairs[i], O_CLOEXEC) < 0) return -1;
  c->line_fd = memfd_create("line", MFD_CLOEXEC);
  if (c->line_fd < 0 || ftruncate(c->line_fd, sizeof *reached_line) < 0) return -1;
  /* SEQPACKET keeps message boundaries, so MESSAGE_READY and MESSAGE_DONE never merge. */
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->pairs[CONTROL]);
}

/*
 * Restores the default handlers of these signals. Keeps R's handler of SIGINT, because the supervisor sends SIGINT to
 * make R interrupt a script.
 */
static void restore_signals(void) {
  const int numbers[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_DFL);
}

/*
 * After success, returns in two processes, like fork: `s->runner` is 0 in the runner, and the runner's pid in the
 * supervisor. After a failure, returns in one process, with the stage that failed.
 */
static struct stage_error fork_runner(const struct zygote *z, struct supervision *s, struct channels *c) {
  struct stage_error e = {STAGE_NONE, 0};
  if (open_channels(c) < 0) return (struct stage_error){STAGE_PIPES, errno};
  if (z->mode == MODE_NAMESPACES) e = enter_user_namespace(z);
  if (e.stage == STAGE_NONE && (s->runner = fork()) < 0) return (struct stage_error){STAGE_FORK, errno};
  return e;
}

/* Keeps the capabilities to measure and kill the processes of a run. */
static void keep_capabilities(void) {
  const int kept[] = {CAP_SYS_PTRACE, CAP_KILL};
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}, {0}};
  if (syscall(SYS_capget, &header, data) < 0) return;
  for (size_t i = 0; i < 2; i++) data[0].inheritable |= data[0].permitted & (1u << kept[i]);
  if (syscall(SYS_capset, &header, data) < 0) return;
  for (size_t i = 0; i < 2; i++) (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0);
}

/*
 * Executes the program of the supervisor. The descriptors that the supervisor uses stay open, because their
 * close-on-exec flag is cleared; execve closes the descriptors that still have the flag.
 */
static void become_supervisor(const struct zygote *z, struct supervision *s, const struct channels *c) {
  char text[2 * sizeof *s + 1];
  s->mode = z->mode;
  s->listen_fd = z->listen_fd;
  s->notify_fd = z->notify_fd;
  s->proc_fd = z->proc_fd;
  s->base_resident_bytes = z->base_resident_bytes;
  s->request_fd = c->pairs[REQUEST][1];
  s->result_fd = c->pairs[RESULT][0];
  s->text_fd = c->pairs[TEXT][0];
  s->control_fd = c->pairs[CONTROL][0];
  s->line_fd = c->line_fd;
  const int kept[] = {s->listen_fd, s->notify_fd, s->proc_fd, s->request_fd, s->result_fd, s->text_fd, s->control_fd, s->line_fd};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (kept[i] >= 0) fcntl(kept[i], F_SETFD, 0);
  write_hex(text, s, sizeof *s);
  char *const arguments[] = {"supervisor", text, NULL}, *const environment[] = {NULL};
  if (z->mode == MODE_NAMESPACES) keep_capabilities();
  execve(z->supervisor_path, arguments, environment);
  perror("supervisor");
  _exit(1);
}

/*
 * Forks the runner, then becomes the supervisor. Returns only in the runner. The supervisor must not return, because it
 * shares the memory of the zygote (vfork).
 */
static void start_run(const struct zygote *z, pid_t zygote, struct run_header *header) {
  struct supervision s = {0};
  struct channels c;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != zygote) _exit(1);
  /* Gives the supervisor a session of its own. The runner later creates another session (separate_runner). */
  setsid();
  restore_signals();
  s.refused = fork_runner(z, &s, &c);
  if (s.refused.stage != STAGE_NONE || s.runner != 0) become_supervisor(z, &s, &c);
  become_runner(z, header, &c);
}

pid_t spawn_supervisor(const struct zygote *z, struct run_header *header) {
  const pid_t zygote = getpid(), child = vfork();
  if (child == 0) start_run(z, zygote, header);
  return child;
}
