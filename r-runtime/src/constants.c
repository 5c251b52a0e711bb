/*
 * Moves constants of compiled R code to a few neighbouring pages. R writes to the header of each constant that it
 * loads, so a run would otherwise copy many pages (../MEASUREMENTS.md). Runs are slower but still correct in two cases:
 * - this version of R lacks a function that this file calls and request.c does not
 * - this version of R stores the reference count of an object at an offset other than COUNT_OFFSET
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Functions of libR, and R_NilValue. An R that lacks a weak symbol still loads sandbox.so, unless request.c uses the
 * symbol too.
 */
#define R_FUNCTION __attribute__((weak)) extern
R_FUNCTION int TYPEOF(SEXP);
R_FUNCTION int ALTREP(SEXP);
R_FUNCTION SEXP ATTRIB(SEXP);
R_FUNCTION SEXP VECTOR_ELT(SEXP, ptrdiff_t);
R_FUNCTION SEXP SET_VECTOR_ELT(SEXP, ptrdiff_t, SEXP);
R_FUNCTION SEXP Rf_duplicate(SEXP);
R_FUNCTION ptrdiff_t Rf_xlength(SEXP);
R_FUNCTION void MARK_NOT_MUTABLE(SEXP);
R_FUNCTION SEXP R_NilValue;

/* Maximum number of constant pools that note_constants records. Constants of any further pools are not replaced. */
#define MAX_POOLS (1u << 17)
static SEXP *pools;
static size_t pool_count;

/*
 * Offset of the reference count in an R object. Loading a constant sets its count to FROZEN. Before the trial run,
 * mark_unloaded changes the count to UNLOADED.
 */
enum { COUNT_OFFSET = 4 };
static const uint16_t FROZEN = 0xffff, UNLOADED = 0x8000;

/*
 * The constants that the trial run loaded. Here, `at` is the address of a pool, and `bytes` is the index of the
 * constant in this pool.
 */
static struct range loaded[MAX_RANGES];
static size_t loaded_count;

static uint16_t read_count(SEXP object) {
  uint16_t count;
  memcpy(&count, (char *)object + COUNT_OFFSET, sizeof count);
  return count;
}

void note_constants(SEXP pool) {
  if (!SET_VECTOR_ELT || !Rf_duplicate || TYPEOF(pool) != VECSXP || pool_count >= MAX_POOLS) return;
  if (!pools) pools = mmap(NULL, MAX_POOLS * sizeof *pools, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pools == MAP_FAILED) pools = NULL;
  if (pools) pools[pool_count++] = pool;
}

/* Only plain vectors may be replaced by copies: R code cannot tell a copy of a plain vector from the original. */
static int is_movable(SEXP constant) {
  const int type = TYPEOF(constant);
  if (type != LGLSXP && type != INTSXP && type != REALSXP && type != STRSXP) return 0;
  return !ALTREP(constant) && ATTRIB(constant) == R_NilValue && Rf_xlength(constant) <= 16;
}

static void visit_constants(void (*visit)(SEXP pool, ptrdiff_t index, SEXP constant)) {
  for (size_t i = 0; i < pool_count; i++)
    for (ptrdiff_t k = Rf_xlength(pools[i]); k-- > 0;) {
      SEXP constant = VECTOR_ELT(pools[i], k);
      if (is_movable(constant)) visit(pools[i], k, constant);
    }
}

/* Marks a constant as not yet loaded. Called in the child, before the trial run. */
static void mark_unloaded(SEXP pool, ptrdiff_t index, SEXP constant) {
  (void)pool, (void)index;
  if (read_count(constant) == FROZEN) memcpy((char *)constant + COUNT_OFFSET, &UNLOADED, sizeof UNLOADED);
}

static void note_loaded(SEXP pool, ptrdiff_t index, SEXP constant) {
  if (read_count(constant) == FROZEN && loaded_count < MAX_RANGES)
    loaded[loaded_count++] = (struct range){(uintptr_t)pool, (size_t)index};
}

/* @param is_child out: 1 in the child, which must perform a run and then call tm_end_constants. */
void tm_learn_constants(int *is_child) {
  *is_child = fork_trial(loaded, &loaded_count);
  if (*is_child) visit_constants(mark_unloaded);
}

/* Called in the child, after the run. Does not return. */
void tm_end_constants(void) {
  visit_constants(note_loaded);
  end_trial(loaded, loaded_count);
}

/* Called in the zygote. @return its argument, because .Call must return an R object. */
SEXP tm_gather_constants(SEXP unused) {
  for (size_t i = 0; i < loaded_count; i++) {
    SEXP pool = (SEXP)loaded[i].at, copy = Rf_duplicate(VECTOR_ELT(pool, (ptrdiff_t)loaded[i].bytes));
    MARK_NOT_MUTABLE(copy);
    SET_VECTOR_ELT(pool, (ptrdiff_t)loaded[i].bytes, copy);
  }
  if (pools) munmap(pools, MAX_POOLS * sizeof *pools);
  pools = NULL;
  pool_count = 0;
  return unused;
}
