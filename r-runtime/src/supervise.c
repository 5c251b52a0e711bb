/*
 * The supervisor of one run is a separate program, which spawn.c starts. It waits for a connection, moves bytes between
 * connection and runner, enforces limits (wall time, total CPU time, total processes, total memory, result size), and
 * reports how the run ended. It trusts no byte that a script may have written. Only the supervisor holds the
 * connection, so only it can write the trailer.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define SCAN_INTERVAL_US 100000u
#define CLIENT_TIMEOUT_MS 30000
/* Microseconds from the interrupt of a run at a time limit until the run is killed, if it has not ended. */
#define INTERRUPT_GRACE_US 300000u

struct run {
  struct supervision s;
  struct run_header header;
  const volatile int32_t *reached_line;
  int connection, request, result, text, control, pidfd;
  pid_t runner;
  int limit, is_client_gone, is_ready, is_done;
  struct stage_error refused;
  uint64_t unread_request_bytes;
  char in[BUFFER_BYTES];
  size_t in_from, in_to;
  char out[sizeof(struct chunk_header) + BUFFER_BYTES];
  size_t out_from, out_to;
  char *captured;
  size_t captured_bytes;
  uint64_t text_bytes, result_bytes, started_us, deadline_us, next_scan_us, kill_us;
};

static void kill_run(struct run *r, int limit) {
  if (r->limit == LIMIT_NONE) r->limit = limit;
  /*
   * With namespaces, the runner is pid 1. When pid 1 is killed, the kernel kills all other processes of the namespace.
   */
  if (r->s.mode == MODE_RLIMITS_ONLY) kill(-r->runner, SIGKILL);
  kill(r->runner, SIGKILL);
}

/* Interrupts R before the kill, so that R can report the messages and the interrupted line of the script. */
static void interrupt_run(struct run *r, int limit) {
  r->limit = limit;
  r->kill_us = monotonic_us() + INTERRUPT_GRACE_US;
  kill(r->runner, SIGINT);
}

static void lose_client(struct run *r) {
  r->is_client_gone = 1;
  kill_run(r, LIMIT_NONE);
}

/*
 * Reads request bytes from the connection, even after the runner has closed its pipe. If bytes stayed unread, closing
 * the connection would reset it.
 */
static void read_request(struct run *r) {
  size_t wanted = r->unread_request_bytes < BUFFER_BYTES ? (size_t)r->unread_request_bytes : BUFFER_BYTES;
  ssize_t n = read(r->connection, r->in, wanted);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) lose_client(r);
  if (n <= 0) return;
  r->unread_request_bytes -= (uint64_t)n;
  r->in_from = 0;
  r->in_to = r->request >= 0 ? (size_t)n : 0;
}

static void close_request(struct run *r) {
  if (r->request >= 0) close(r->request);
  r->request = -1;
  r->in_from = r->in_to = 0;
}

static void feed_runner(struct run *r) {
  ssize_t n = write(r->request, r->in + r->in_from, r->in_to - r->in_from);
  if (n > 0) r->in_from += (size_t)n;
  else if (n < 0 && errno != EAGAIN && errno != EINTR) close_request(r);
  if (r->in_from == r->in_to && r->unread_request_bytes == 0) close_request(r);
}

/*
 * Reads result bytes from the runner into a chunk for the connection. Kills the run when the result is too large.
 * @return 1 when bytes were read, 0 at the end of the stream or after an error, -1 when nothing can be read now.
 */
static int read_result(struct run *r) {
  char *payload = r->out + sizeof(struct chunk_header);
  ssize_t n = read(r->result, payload, BUFFER_BYTES);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
  if (n == 0) return 0;
  r->result_bytes += (uint64_t)n;
  if (r->result_bytes > r->header.max_result_bytes) {
    kill_run(r, LIMIT_OUTPUT);
    return 1;
  }
  struct chunk_header head = {.kind = CHUNK_RESULT, .bytes = (uint32_t)n};
  memcpy(r->out, &head, sizeof head);
  r->out_from = 0;
  r->out_to = sizeof head + (size_t)n;
  return 1;
}

static void send_result(struct run *r) {
  ssize_t n = write(r->connection, r->out + r->out_from, r->out_to - r->out_from);
  if (n > 0) r->out_from += (size_t)n;
  else if (n < 0 && errno != EAGAIN && errno != EINTR) lose_client(r);
}

/*
 * Keeps the first max_text_bytes bytes of the runner's text output. Reads the rest too, so that the script is not
 * blocked.
 */
static int read_captured(struct run *r) {
  char scratch[BUFFER_BYTES];
  ssize_t n = read(r->text, scratch, sizeof scratch);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
  if (n == 0) return 0;
  size_t space = r->header.max_text_bytes - r->captured_bytes, kept = (size_t)n < space ? (size_t)n : space;
  memcpy(r->captured + r->captured_bytes, scratch, kept);
  r->captured_bytes += kept;
  r->text_bytes += (uint64_t)n;
  return 1;
}

/*
 * Until the runner sends MESSAGE_READY, it is trusted and may report an error of its setup. Later messages may come
 * from the script.
 */
static void read_control(struct run *r) {
  struct stage_error refused;
  ssize_t n = recv(r->control, &refused, sizeof refused, MSG_DONTWAIT);
  const char message = *(const char *)&refused;
  if (n == 0) r->control = -1;
  else if (n == 1 && message == MESSAGE_READY) r->is_ready = 1;
  else if (n == 1 && message == MESSAGE_DONE) r->is_done = r->is_ready;
  else if (n == sizeof refused && !r->is_ready) r->refused = refused;
}

static void scan_usage(struct run *r, uint64_t now) {
  if (r->s.proc_fd < 0) return;
  uint64_t allowed = r->header.memory_bytes + r->s.base_resident_bytes;
  struct usage u = read_usage(r->s.proc_fd, r->runner, allowed);
  if (u.processes > (int)r->header.max_processes) kill_run(r, LIMIT_PROCESSES);
  else if (u.cpu_us > (uint64_t)r->header.cpu_sec * 1000000u) interrupt_run(r, LIMIT_CPU);
  else if (u.processes > 1 && u.resident_bytes > allowed) kill_run(r, LIMIT_MEMORY);
  r->next_scan_us = now + SCAN_INTERVAL_US;
}

static void check_limits(struct run *r) {
  uint64_t now = monotonic_us();
  if (r->limit != LIMIT_NONE) {
    if (r->kill_us != 0 && now >= r->kill_us) kill_run(r, r->limit);
  } else if (now >= r->deadline_us) interrupt_run(r, LIMIT_WALL);
  else if (now >= r->next_scan_us) scan_usage(r, now);
}

/* Moves bytes until the runner has ended or reports that it is done. A closed descriptor is -1, which poll ignores. */
static void relay(struct run *r) {
  for (;;) {
    int is_in_empty = r->in_from == r->in_to, is_out_empty = r->out_from == r->out_to;
    short conn_events = POLLRDHUP;
    if (r->unread_request_bytes > 0 && is_in_empty) conn_events |= POLLIN;
    if (!is_out_empty) conn_events |= POLLOUT;
    struct pollfd p[6] = {{.fd = r->is_client_gone ? -1 : r->connection, .events = conn_events},
                          {.fd = is_in_empty ? -1 : r->request, .events = POLLOUT},
                          {.fd = is_out_empty ? r->result : -1, .events = POLLIN},
                          {.fd = r->text, .events = POLLIN},
                          {.fd = r->pidfd, .events = POLLIN},
                          {.fd = r->control, .events = POLLIN}};
    uint64_t now = monotonic_us(), next = r->next_scan_us < r->deadline_us ? r->next_scan_us : r->deadline_us;
    if (r->limit != LIMIT_NONE) next = r->kill_us > now ? r->kill_us : now + 1000000u;
    int timeout_ms = r->is_client_gone ? 1000 : next > now ? (int)((next - now) / 1000u) + 1 : 0;
    if (poll(p, 6, timeout_ms) < 0 && errno != EINTR) return kill_run(r, LIMIT_NONE);
    if (p[5].revents) read_control(r);
    if (p[4].revents || r->is_done) return;
    if (p[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) lose_client(r);
    if (p[0].revents & POLLIN && !r->is_client_gone && r->unread_request_bytes > 0 && is_in_empty) read_request(r);
    if (p[0].revents & POLLOUT && !r->is_client_gone) send_result(r);
    if (p[1].revents) feed_runner(r);
    if (p[2].revents && read_result(r) == 0) r->result = -1;
    if (p[3].revents && read_captured(r) == 0) r->text = -1;
    check_limits(r);
  }
}

/*
 * Decides whether the client gets the rest of the result. The client gets it when the run exceeded no limit. After an
 * interrupt at a limit, R may still send a result that reports the interrupt. The client gets the rest of that result
 * only if the runner has also reported that it is done.
 */
static int is_result_wanted(const struct run *r) {
  return r->limit == LIMIT_NONE || (r->is_done && r->kill_us != 0);
}

/*
 * Called when the runner has ended or has reported that it is done. Forwards the rest of the result if it is wanted,
 * captures the rest of the runner's text output, and discards the rest of the request.
 */
static void drain(struct run *r) {
  while (r->result >= 0 && is_result_wanted(r)) {
    if (write_full(r->connection, r->out + r->out_from, r->out_to - r->out_from, CLIENT_TIMEOUT_MS) < 0) _exit(1);
    r->out_from = r->out_to = 0;
    if (read_result(r) <= 0) break;
  }
  if (is_result_wanted(r) || r->out_from > 0)
    if (write_full(r->connection, r->out + r->out_from, r->out_to - r->out_from, CLIENT_TIMEOUT_MS) < 0) _exit(1);
  while (r->text >= 0 && read_captured(r) > 0) continue;
  while (r->unread_request_bytes > 0) {
    size_t n = r->unread_request_bytes < BUFFER_BYTES ? (size_t)r->unread_request_bytes : BUFFER_BYTES;
    if (read_full(r->connection, r->in, n, CLIENT_TIMEOUT_MS) < 0) _exit(1);
    r->unread_request_bytes -= n;
  }
}

static char *put_chunk(char *at, uint32_t kind, const void *bytes, size_t size) {
  struct chunk_header head = {.kind = kind, .bytes = (uint32_t)size};
  memcpy(at, &head, sizeof head);
  memcpy(at + sizeof head, bytes, size);
  return at + sizeof head + size;
}

/* Sends the captured text and the trailer in one write, because each write wakes the client. */
static void send_end(int connection, const char *captured, size_t captured_bytes, const struct trailer *t) {
  char *chunks = malloc(2 * sizeof(struct chunk_header) + captured_bytes + sizeof *t);
  if (!chunks) _exit(1);
  char *end = put_chunk(chunks, CHUNK_TEXT, captured, captured_bytes);
  end = put_chunk(end, CHUNK_TRAILER, t, sizeof *t);
  if (write_full(connection, chunks, (size_t)(end - chunks), CLIENT_TIMEOUT_MS) < 0) _exit(1);
  free(chunks);
}

static void send_fault(int connection, struct stage_error e) {
  struct trailer t = {.magic = TRAILER_MAGIC, .end = END_SETUP_FAILED, .stage = e.stage, .error = e.error};
  send_end(connection, "", 0, &t);
}

static void reap(struct run *r, struct trailer *t) {
  struct rusage usage = {0};
  int status = 0;
  while (wait4(r->runner, &status, 0, &usage) < 0 && errno == EINTR) continue;
  t->cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
              (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  t->max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024u;
  t->end = WIFSIGNALED(status) ? END_SIGNALLED : END_EXITED;
  t->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  /*
   * At the soft RLIMIT_CPU, the kernel sends SIGXCPU, which pid 1 of a namespace ignores. SIGKILL follows at the hard
   * limit, one second of CPU time later.
   */
  if (t->limit == LIMIT_NONE && t->end == END_SIGNALLED && t->cpu_us >= (uint64_t)r->header.cpu_sec * 1000000u)
    t->limit = LIMIT_CPU;
}

/*
 * Reads the resource usage of a runner that is done but has not exited, then kills the run. So the client does not wait
 * for the exit of the runner.
 */
static void describe_done(struct run *r, struct trailer *t) {
  struct timespec cpu = {0};
  clockid_t clock;
  if (clock_getcpuclockid(r->runner, &clock) == 0) clock_gettime(clock, &cpu);
  t->cpu_us = (uint64_t)cpu.tv_sec * 1000000u + (uint64_t)cpu.tv_nsec / 1000u;
  t->max_rss_bytes = read_peak_bytes(r->s.proc_fd, r->runner);
  kill_run(r, LIMIT_NONE);
}

static struct trailer describe_end(struct run *r) {
  struct trailer t = {.magic = TRAILER_MAGIC, .limit = r->limit};
  if (r->control >= 0) read_control(r);
  if (r->is_done) describe_done(r, &t);
  else reap(r, &t);
  t.wall_us = monotonic_us() - r->started_us;
  t.line = *r->reached_line;
  if (r->refused.stage != STAGE_NONE) {
    t.end = END_SETUP_FAILED;
    t.stage = r->refused.stage;
    t.error = r->refused.error;
  }
  return t;
}

static void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/*
 * Takes over the descriptors from spawn.c. The runner records the line of each top-level expression in shared memory,
 * so the last line is known even after a kill.
 */
static struct stage_error take_over(struct run *r) {
  r->runner = r->s.runner;
  r->request = r->s.request_fd;
  r->result = r->s.result_fd;
  r->text = r->s.text_fd;
  r->control = r->s.control_fd;
  if (r->s.refused.stage != STAGE_NONE) return r->s.refused;
  r->pidfd = (int)syscall(SYS_pidfd_open, r->runner, 0u);
  const int nonblocking[] = {r->request, r->result, r->text};
  for (int i = 0; i < 3; i++) set_nonblocking(nonblocking[i]);
  void *shared = mmap(NULL, sizeof *r->reached_line, PROT_READ, MAP_SHARED, r->s.line_fd, 0);
  if (shared == MAP_FAILED) return (struct stage_error){STAGE_PIPES, errno};
  r->reached_line = shared;
  return (struct stage_error){STAGE_NONE, 0};
}

static void notify_zygote(const struct run *r, int32_t kind) {
  const struct notice n = {.pid = getpid(), .kind = kind};
  if (write(r->s.notify_fd, &n, sizeof n) != sizeof n && errno != EAGAIN) _exit(1);
}

/*
 * Waits for a connection, accepts it, and sends NOTICE_SERVING to the zygote. The zygote can then fork the next
 * supervisor, which waits for the next connection.
 */
static void take_connection(struct run *r) {
  while (r->connection < 0) {
    struct pollfd p = {.fd = r->s.listen_fd, .events = POLLIN};
    int n = poll(&p, 1, HEARTBEAT_MS);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n == 0) notify_zygote(r, NOTICE_WAITING);
    if (n > 0) r->connection = accept4(r->s.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  }
  close(r->s.listen_fd);
  notify_zygote(r, NOTICE_SERVING);
  close(r->s.notify_fd);
}

/* Reads the run header and passes it to the runner. @return STAGE_NONE when the run may begin. */
static struct stage_error begin_run(struct run *r) {
  if (read_full(r->connection, &r->header, sizeof r->header, 5000) < 0) _exit(1);
  if (r->header.magic != RUN_MAGIC || r->header.version != 1) return (struct stage_error){STAGE_HEADER, EPROTO};
  r->captured = malloc(r->header.max_text_bytes + 1u);
  if (!r->captured) return (struct stage_error){STAGE_HEADER, ENOMEM};
  r->unread_request_bytes = r->header.frame_bytes;
  r->started_us = monotonic_us();
  r->deadline_us = r->started_us + (uint64_t)r->header.wall_ms * 1000u;
  r->next_scan_us = r->started_us + SCAN_INTERVAL_US;
  /* Ignores a failed write: the runner has already exited, and read_control finds the reason in the control socket. */
  (void)write_full(r->control, &r->header, sizeof r->header, 1000);
  return (struct stage_error){STAGE_NONE, 0};
}

/* Oversees the run until its trailer is sent. Does not return. */
static void oversee(struct run *r) {
  if (r->pidfd < 0) kill_run(r, LIMIT_NONE);
  else relay(r);
  if (r->s.mode == MODE_RLIMITS_ONLY && !r->is_done) kill(-r->runner, SIGKILL);
  struct trailer end = describe_end(r);
  if (!r->is_client_gone) {
    drain(r);
    end.text_bytes = r->text_bytes;
    if (end.limit == LIMIT_NONE) end.limit = r->limit;
    send_end(r->connection, r->captured, r->captured_bytes, &end);
  }
  /*
   * The zygote limits the number of runs by counting supervisors. So this supervisor waits until the run's namespace
   * has ended.
   */
  while (waitpid(r->runner, NULL, 0) < 0 && errno == EINTR) continue;
  _exit(0);
}

/* argv[1] holds the bytes of a `struct supervision` as hexadecimal digits. */
int main(int argc, char **argv) {
  /* Without initial values, `r` and its buffers take no space in the executable file. */
  static struct run r;
  r.connection = -1;
  if (argc != 2 || read_hex(argv[1], &r.s, sizeof r.s) < 0) return 2;
  signal(SIGPIPE, SIG_IGN);
  struct stage_error e = take_over(&r);
  take_connection(&r);
  if (e.stage == STAGE_NONE) e = begin_run(&r);
  if (e.stage == STAGE_NONE) oversee(&r);
  send_fault(r.connection, e);
  return 1;
}
