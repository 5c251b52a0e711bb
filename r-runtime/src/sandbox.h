/*
 * Declarations that the C files of sandbox.so and of the supervisor share: framing of the connection, limits of a run,
 * and how a run ends. ../FRAMES.md describes the byte layouts; the other end of the connection is
 * src/calculation/sandbox/wire.ts. R loads sandbox.so by dyn.load. The C files compile without R's headers.
 */
#ifndef TIDEMARK_SANDBOX_H
#define TIDEMARK_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUN_MAGIC 0x31484d54u     /* "TMH1" */
#define TRAILER_MAGIC 0x31544d54u /* "TMT1" */

/*
 * SPARES is the number of supervisors that wait for runs. The zygote forks them ahead of time, but forks none while
 * MAX_RUNS or more supervisors serve runs.
 */
#define MAX_RUNS 256
#define SPARES 2

/* Whether a run has namespaces of its own. In both modes, rlimits and the system-call filter confine the run. */
enum { MODE_NAMESPACES = 0, MODE_RLIMITS_ONLY = 1 };

/* Kinds of chunk in the answer to a request (../FRAMES.md). */
enum { CHUNK_RESULT = 1, CHUNK_TEXT = 2, CHUNK_TRAILER = 3 };

/* How the runner ended (`end` of the trailer). */
enum { END_EXITED = 0, END_SIGNALLED = 1, END_SETUP_FAILED = 2 };

/* The limit that the run exceeded (`limit` of the trailer). */
enum { LIMIT_NONE = 0, LIMIT_WALL = 1, LIMIT_CPU = 2, LIMIT_MEMORY = 3, LIMIT_OUTPUT = 4, LIMIT_PROCESSES = 5 };

/* Stages of set-up; a fault names the stage that failed. The order is part of the protocol (wire.ts). */
enum {
  STAGE_NONE = 0, STAGE_HEADER, STAGE_PIPES, STAGE_UNSHARE, STAGE_ID_MAP, STAGE_FORK, STAGE_SEPARATE, STAGE_MOUNT_PRIVATE,
  STAGE_READ_ONLY, STAGE_TMP, STAGE_PROC, STAGE_HIDE, STAGE_DESCRIPTORS, STAGE_RLIMITS, STAGE_CAPABILITIES,
  STAGE_SECCOMP
};

/* The 64 bytes before the request frame on the connection, little-endian, no padding. */
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

/* Last chunk of an answer, 64 bytes. Only the supervisor can write it. */
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
  int32_t line; /* last line of the script that was reached; 0: none. The script can forge it. */
  int32_t reserved;
};
_Static_assert(sizeof(struct trailer) == 64, "trailer layout");

struct chunk_header {
  uint32_t kind;
  uint32_t bytes;
};

struct stage_error {
  int32_t stage;
  int32_t error;
};

/* State of the zygote; every fork inherits it. */
struct zygote {
  int mode;
  int listen_fd;
  int notify_fd; /* pipe to which supervisors write each struct notice */
  int proc_fd; /* directory /proc of the container; -1 when it has none */
  int network_fd; /* network namespace for the next run; -1: the run makes its own */
  int owner_fd; /* user namespace that owns the network namespaces */
  uint64_t base_address_bytes;
  uint64_t base_resident_bytes;
  const char *socket_dir;
  const char *supervisor_path;
  void *filter; /* seccomp program */
  size_t filter_bytes;
};

/*
 * A waiting supervisor sends NOTICE_WAITING every HEARTBEAT_MS, and NOTICE_SERVING once when it accepts a connection. A
 * notice is smaller than PIPE_BUF, so notices of several supervisors never interleave.
 */
enum { NOTICE_WAITING = 'W', NOTICE_SERVING = 'S' };
enum { HEARTBEAT_MS = 500 };
struct notice {
  pid_t pid;
  int32_t kind;
};

/*
 * State that spawn.c passes to a supervisor. The memory limit of a run does not include `base_resident_bytes`, the
 * resident size of the zygote.
 */
struct supervision {
  int32_t mode, listen_fd, notify_fd, proc_fd;
  int32_t request_fd, result_fd, text_fd, control_fd;
  int32_t line_fd; /* shared memory with one int32_t: the last line of the script that was reached */
  int32_t runner;
  struct stage_error refused;
  uint64_t base_resident_bytes;
};

/*
 * Numbers of the descriptors that a runner inherits. confine.c moves these descriptors to fixed numbers, such as
 * RUNNER_RESULT_FD.
 */
struct runner_fds {
  int request_fd, result_fd, text_fd, control_fd;
};
enum { RUNNER_RESULT_FD = 3, RUNNER_CONTROL_FD = 4 };

/* Messages that a runner sends over the control socket. The runner may send a stage_error in place of MESSAGE_READY. */
enum { MESSAGE_READY = 'R', MESSAGE_DONE = 'D' };

/* networks.c */
struct networks {
  int is_open, owner_fd;
  struct network {
    int fd; /* descriptor of the namespace; 0: not made yet */
    pid_t supervisor; /* pid of the supervisor that uses it; 0: free */
  } all[MAX_RUNS + SPARES];
};
void open_networks(const struct zygote *z, struct networks *n);
int enter_network(int owner_fd, int network_fd);
struct network *take_network(struct zygote *z, struct networks *n);
void leave_network(struct networks *n, pid_t supervisor, int has_left_nothing);

/* confine.c */
struct stage_error make_user_namespace(int flags, unsigned inner_id);
struct stage_error enter_user_namespace(const struct zygote *z);
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

/* Pointer to an R object, and the numbers of the object types, as in R's Rinternals.h. */
typedef void *SEXP;
enum {
  SYMSXP = 1, LISTSXP = 2, CLOSXP = 3, ENVSXP = 4, PROMSXP = 5, LANGSXP = 6, CHARSXP = 9, LGLSXP = 10, INTSXP = 13,
  REALSXP = 14, STRSXP = 16, DOTSXP = 17, VECSXP = 19, EXPRSXP = 20, BCODESXP = 21, EXTPTRSXP = 22, WEAKREFSXP = 23
};

/* constants.c */
void note_constants(SEXP pool);

/* fill.c */
struct range {
  uintptr_t at;
  size_t bytes;
};
extern struct range fresh; /* reserved empty huge pages above the heap */
void reserve_fresh(void);

/* trial.c */
enum { MAX_RANGES = 4096 };
int fork_trial(struct range *ranges, size_t *count);
void end_trial(const struct range *ranges, size_t count);

/* pages.c */
void drop_foreign_pages(void);
void touch_pages(void);

/* spawn.c */
/*
 * A runner calls reach_line with the line number of each top-level expression, before the expression runs. The
 * supervisor can read the last line number even after the runner was killed.
 */
void reach_line(int32_t line);
/*
 * @param header (output) limits of the run; filled only in the runner.
 * @return 0 in the runner. In the zygote: the pid of the supervisor, or -1 when vfork fails.
 */
pid_t spawn_supervisor(const struct zygote *z, struct run_header *header);

/* io.c */
uint64_t monotonic_us(void);
int read_full(int fd, void *buffer, size_t bytes, int timeout_ms);
int write_full(int fd, const void *buffer, size_t bytes, int timeout_ms);
/* @param text points to a buffer of 2 * size + 1 bytes. */
void write_hex(char *text, const void *bytes, size_t size);
int read_hex(const char *text, void *bytes, size_t size);

#endif
