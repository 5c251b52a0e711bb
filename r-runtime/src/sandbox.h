/*
 * Shared by the files of the C helper: frames on the connection, limits of a run, and how a run ended.
 * Byte layouts are documented in ../FRAMES.md and mirrored in src/calculation/sandbox/wire.ts.
 * The helper is loaded by dyn.load and called through .C, so it needs no R headers.
 */
#ifndef TIDEMARK_SANDBOX_H
#define TIDEMARK_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUN_MAGIC 0x31484d54u     /* "TMH1" */
#define TRAILER_MAGIC 0x31544d54u /* "TMT1" */

/* How runs are contained. */
enum { MODE_NAMESPACES = 0, MODE_RLIMITS_ONLY = 1 };

/* Kinds of chunk in the answer. */
enum { CHUNK_RESULT = 1, CHUNK_TEXT = 2, CHUNK_TRAILER = 3 };

/* Trailer: how the runner ended. */
enum { END_EXITED = 0, END_SIGNALLED = 1, END_SETUP_FAILED = 2 };

/* Trailer: the limit that the supervisor enforced. */
enum { LIMIT_NONE = 0, LIMIT_WALL = 1, LIMIT_CPU = 2, LIMIT_MEMORY = 3, LIMIT_OUTPUT = 4, LIMIT_PROCESSES = 5 };

/* Stages of set-up: a fault names the one that the kernel refused. The order is part of the protocol (wire.ts). */
enum {
  STAGE_NONE = 0, STAGE_HEADER, STAGE_PIPES, STAGE_UNSHARE, STAGE_ID_MAP, STAGE_FORK, STAGE_SEPARATE, STAGE_MOUNT_PRIVATE,
  STAGE_READ_ONLY, STAGE_TMP, STAGE_PROC, STAGE_HIDE, STAGE_DESCRIPTORS, STAGE_RLIMITS, STAGE_CAPABILITIES,
  STAGE_SECCOMP
};

/* First 64 bytes of a request, little-endian, no padding. */
struct run_header {
  uint32_t magic;
  uint32_t version;
  uint64_t frame_bytes;
  uint32_t wall_ms;
  uint32_t cpu_sec;
  uint64_t memory_bytes;
  uint64_t tmp_bytes;
  uint32_t max_processes;
  uint32_t max_text_bytes;
  uint64_t max_result_bytes;
  uint32_t max_points;
  uint32_t reserved;
};
_Static_assert(sizeof(struct run_header) == 64, "run header layout");

/* Last chunk of an answer, 56 bytes. Only the supervisor can write it. */
struct trailer {
  uint32_t magic;
  int32_t end;
  int32_t code;
  int32_t limit;
  int32_t stage;
  int32_t error;
  uint64_t wall_us;
  uint64_t cpu_us;
  uint64_t max_rss_bytes;
  uint64_t text_bytes;
};
_Static_assert(sizeof(struct trailer) == 56, "trailer layout");

struct chunk_header {
  uint32_t kind;
  uint32_t bytes;
};

/* State of the zygote: filled once, inherited by every fork. */
struct zygote {
  int mode;
  int listen_fd;
  int notify_fd; /* supervisors write struct notice here */
  int proc_fd; /* /proc of the container; -1 when there is none */
  uint64_t base_address_bytes;
  uint64_t base_resident_bytes;
  const char *socket_dir;
  void *filter; /* seccomp program */
  size_t filter_bytes;
};

/*
 * A waiting supervisor sends SAYS_WAITING every HEARTBEAT_MS, and SAYS_SERVING once when it accepts a connection. Smaller than
 * PIPE_BUF, so notices of several supervisors never mix.
 */
enum { SAYS_WAITING = 'W', SAYS_SERVING = 'S' };
enum { HEARTBEAT_MS = 500 };
struct notice {
  pid_t pid;
  int32_t kind;
};

/* Descriptors of a run before the runner has arranged them, and after. */
struct runner_fds {
  int request_fd, result_fd, text_fd, control_fd;
};
enum { RUNNER_RESULT_FD = 3, RUNNER_CONTROL_FD = 4 };

/* What a runner says to its supervisor over the control socket; before READY it may also send a stage_error. */
enum { SAYS_READY = 'R', SAYS_DONE = 'D' };

struct stage_error {
  int32_t stage;
  int32_t error;
};

/* confine.c */
struct stage_error enter_user_namespace(void);
struct stage_error separate_runner(const struct zygote *z);
struct stage_error enter_namespaces(const struct zygote *z);
struct stage_error confine_runner(const struct zygote *z, const struct run_header *h, const struct runner_fds *fds);

/* watch.c */
struct usage {
  int processes;
  uint64_t cpu_us;
  uint64_t resident_bytes;
};
struct usage read_usage(int proc_fd, pid_t root, uint64_t enough_bytes);
uint64_t read_peak_bytes(int proc_fd, pid_t pid);

/* pages.c */
void forget_foreign_pages(void);
void touch_pages(void);

/* supervise.c: returns only in the runner, with the limits of its run. */
void supervise(const struct zygote *z, struct run_header *header);

/* io.c */
uint64_t monotonic_us(void);
int read_full(int fd, void *buffer, size_t bytes, int timeout_ms);
int write_full(int fd, const void *buffer, size_t bytes, int timeout_ms);

#endif
