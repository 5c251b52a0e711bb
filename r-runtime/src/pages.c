/*
 * Makes a waiting runner copy the memory pages to which nearly every run writes, so the run itself is faster. A trial
 * run shows which pages to copy. A failure makes runs slower, but does not change their results. Measured:
 * ../MEASUREMENTS.md.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define IS_PRESENT (1ull << 63)
#define IS_FILE (1ull << 61)
#define IS_EXCLUSIVE (1ull << 56)

static struct range learned[MAX_RANGES];
static size_t learned_count;

static void note_page(uintptr_t at, size_t page) {
  if (at >= fresh.at && at < fresh.at + fresh.bytes) return;
  struct range *last = learned_count > 0 ? &learned[learned_count - 1] : NULL;
  if (last && last->at + last->bytes == at) last->bytes += page;
  else if (learned_count < MAX_RANGES) learned[learned_count++] = (struct range){at, page};
}

/*
 * @return whether the child has written to the page of a pagemap entry and so has its own copy. A page with IS_FILE
 * still belongs to a file: it is not copied.
 */
static int is_copied(uint64_t entry) {
  return (entry & IS_PRESENT) && !(entry & IS_FILE) && (entry & IS_EXCLUSIVE);
}

static void note_mapping(void *with, uintptr_t from, uintptr_t to) {
  const int pagemap = *(int *)with;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint64_t entries[512];
  for (uintptr_t at = from; at < to;) {
    size_t pages = (to - at) / page, wanted = pages < 512 ? pages : 512;
    ssize_t got = pread(pagemap, entries, wanted * sizeof *entries, (off_t)(at / page * sizeof *entries));
    if (got <= 0) return;
    for (size_t i = 0; i < (size_t)got / sizeof *entries; i++, at += page)
      if (is_copied(entries[i])) note_page(at, page);
  }
}

/* Calls `visit` for every private mapping that is writable and not executable. */
static void visit_mappings(void (*visit)(void *, uintptr_t, uintptr_t), void *with) {
  FILE *maps = fopen("/proc/self/maps", "re");
  unsigned long from, to;
  char line[512], rights[5];
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && strcmp(rights, "rw-p") == 0) visit(with, from, to);
  if (maps) fclose(maps);
}

/* @param is_child out: 1 in the child, which must execute the trial run and then call tm_end_trial; 0 in the zygote. */
void tm_fork_trial(int *is_child) {
  reserve_fresh();
  *is_child = fork_trial(learned, &learned_count);
}

/* Called in the child, after the trial run. Reports the copied pages to the zygote and does not return. */
void tm_end_trial(void) {
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap >= 0) visit_mappings(note_mapping, &pagemap);
  end_trial(learned, learned_count);
}

/* Keeps the learned ranges that lie within the mapping [`from`, `to`): moves these ranges to the front of `learned`. */
static void keep_inside(void *with, uintptr_t from, uintptr_t to) {
  size_t *kept = with;
  for (size_t i = *kept; i < learned_count; i++) {
    struct range range = learned[i];
    if (range.at < from || range.at + range.bytes > to) continue;
    learned[i] = learned[*kept];
    learned[(*kept)++] = range;
  }
}

/* Called in the zygote before it serves runs. Drops the learned ranges that do not lie within one of its mappings. */
void drop_foreign_pages(void) {
  size_t kept = 0;
  visit_mappings(keep_inside, &kept);
  learned_count = kept;
}

/*
 * Called in a waiting runner. Writes to each learned page, so the kernel gives the runner a copy of the page.
 * MADV_POPULATE_WRITE is slower (../MEASUREMENTS.md).
 */
void touch_pages(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  /* Writing one byte maps the first huge page. The byte may be in use, so the write adds 0 to it atomically. */
  if (fresh.at != 0) (void)__sync_fetch_and_add((char *)fresh.at, 0);
  for (size_t i = 0; i < learned_count; i++)
    for (uintptr_t at = learned[i].at; at < learned[i].at + learned[i].bytes; at += page) {
      volatile char *byte = (volatile char *)at;
      *byte = *byte;
    }
}
