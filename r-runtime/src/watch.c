/*
 * Counts the processes of a run: the runner and its descendants. If the runner is pid 1 of its namespace, orphans are
 * included. Sums up the processor time and memory of these processes. Reads /proc, because the rlimits on processor
 * time and memory apply to each process separately, and an unprivileged supervisor cannot create control groups.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEEN 1024

struct process {
  pid_t pid, parent;
  uint64_t cpu_ticks, resident_pages;
  int is_of_run;
};

static ssize_t read_text(int proc_fd, const char *path, char *buffer, size_t size) {
  int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, buffer, size - 1);
  close(fd);
  if (n >= 0) buffer[n] = 0;
  return n;
}

/*
 * Parses the fields of /proc/PID/stat that follow the process name. The name may contain spaces and parentheses
 * (proc_pid_stat(5)).
 */
static int read_process(int proc_fd, const char *pid_text, struct process *p) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "%.20s/stat", pid_text);
  if (read_text(proc_fd, path, text, sizeof text) <= 0) return -1;
  const char *rest = strrchr(text, ')');
  long parent, resident;
  unsigned long user, kernel;
  long child_user, child_kernel;
  if (!rest || sscanf(rest + 1,
                      " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %*d %*d %*u %*u %ld",
                      &parent, &user, &kernel, &child_user, &child_kernel, &resident) != 6)
    return -1;
  *p = (struct process){.pid = (pid_t)atoi(pid_text), .parent = (pid_t)parent, .resident_pages = (uint64_t)resident,
                        .cpu_ticks = user + kernel + (uint64_t)child_user + (uint64_t)child_kernel};
  return 0;
}

static int list_processes(int proc_fd, struct process *seen) {
  int fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) return 0;
  int n = 0;
  for (struct dirent *e; n < MAX_SEEN && (e = readdir(dir));)
    if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && read_process(proc_fd, e->d_name, &seen[n]) == 0) n++;
  closedir(dir);
  return n;
}

static void mark_descendants(struct process *seen, int n, pid_t root) {
  for (int i = 0; i < n; i++) seen[i].is_of_run = seen[i].pid == root;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; !seen[i].is_of_run && j < n; j++)
        if (seen[j].is_of_run && seen[j].pid == seen[i].parent) changed = seen[i].is_of_run = 1;
  }
}

/*
 * Proportional set size in bytes: the size of a shared page is divided among the processes that share it. Falls back to
 * the resident size when the mappings of the process cannot be read.
 */
static uint64_t read_pss(int proc_fd, const struct process *p) {
  char path[64], text[2048];
  snprintf(path, sizeof path, "%d/smaps_rollup", (int)p->pid);
  const char *line = read_text(proc_fd, path, text, sizeof text) > 0 ? strstr(text, "\nPss:") : NULL;
  return line ? strtoull(line + 5, NULL, 10) * 1024u : p->resident_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * @param enough_bytes threshold for the sum of the resident sizes of a run's processes. Each resident size counts
 * shared pages in full. So when a run has two or more processes and the sum reaches the threshold, the proportional
 * sizes are summed instead. That is slower, because the kernel walks page tables.
 */
struct usage read_usage(int proc_fd, pid_t root, uint64_t enough_bytes) {
  static struct process seen[MAX_SEEN];
  struct usage sum = {0};
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), tick = (uint64_t)sysconf(_SC_CLK_TCK);
  int n = list_processes(proc_fd, seen);
  mark_descendants(seen, n, root);
  for (int i = 0; i < n; i++) {
    if (!seen[i].is_of_run) continue;
    sum.processes++;
    sum.cpu_us += seen[i].cpu_ticks * 1000000u / tick;
    sum.resident_bytes += seen[i].resident_pages * page;
  }
  if (sum.processes < 2 || sum.resident_bytes < enough_bytes) return sum;
  sum.resident_bytes = 0;
  for (int i = 0; i < n; i++)
    if (seen[i].is_of_run) sum.resident_bytes += read_pss(proc_fd, &seen[i]);
  return sum;
}

/* Peak resident size of the process in bytes; 0 when unknown. */
uint64_t read_peak_bytes(int proc_fd, pid_t pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "%d/status", (int)pid);
  if (proc_fd < 0 || read_text(proc_fd, path, text, sizeof text) <= 0) return 0;
  const char *line = strstr(text, "\nVmHWM:");
  return line ? strtoull(line + 7, NULL, 10) * 1024u : 0;
}
