/*
 * Uses up the zygote's free memory before the zygote forks, so that runs allocate from new huge pages. Otherwise, a run
 * would copy the free memory page by page (../MEASUREMENTS.md).
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <limits.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct range fresh;

/*
 * Functions of libR, declared weak. An R that lacks a weak function still loads sandbox.so, unless request.c uses the
 * function too.
 */
#define R_FUNCTION __attribute__((weak)) extern
R_FUNCTION SEXP Rf_allocVector(unsigned, ptrdiff_t);
R_FUNCTION SEXP Rf_cons(SEXP, SEXP);
R_FUNCTION SEXP CDR(SEXP);
R_FUNCTION SEXP SETCDR(SEXP, SEXP);

/*
 * Size of the blocks with which fill_chunks fills free memory. R allocates small objects in larger pages (7,960 bytes),
 * which it gets from malloc. So no such page fits into the memory that stays free.
 */
#define R_PAGE_BYTES 2000
/* Maximum number of objects that fill_class allocates to fill the free memory of one size class. */
#define MAX_OBJECTS 2000000
#define HUGE_PAGE ((uintptr_t)2 << 20)
/*
 * Size, in bytes, of the largest block that drain_chunks allocates. A larger free chunk is filled with several blocks.
 */
#define LARGEST_CHUNK 65536
/* Total size, in bytes, of the huge pages that are reserved above the used part of the heap. */
#define FRESH_BYTES (4 * HUGE_PAGE)

/*
 * Allocates all free chunks that can hold at least 32 bytes. As a result, blocks of at least 32 bytes that are
 * allocated later do not lie between the zygote's objects.
 */
static void drain_chunks(void) {
  const uintptr_t top = (uintptr_t)sbrk(0) - mallinfo2().keepcost;
  for (size_t bytes = LARGEST_CHUNK; bytes >= 24; bytes = bytes > 2048 ? bytes / 2 : bytes - 16)
    for (uintptr_t chunk = 1; chunk != 0 && chunk < top;) chunk = (uintptr_t)malloc(bytes);
  malloc_trim(0);
}

/* Makes malloc take new memory from empty huge pages. Children that are forked later inherit these pages. */
void reserve_fresh(void) {
  drain_chunks();
  mallopt(M_MMAP_THRESHOLD, 4 * HUGE_PAGE);
  mallopt(M_TOP_PAD, FRESH_BYTES + 2 * HUGE_PAGE);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  const uintptr_t at = (uintptr_t)malloc(R_PAGE_BYTES), begin = (at + 2 * HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  /*
   * Pads the heap so that the data of the next chunk begins at the start of a huge page. The header of that chunk lies
   * in the last 16 bytes before this huge page.
   */
  if (at == 0 || malloc(begin - at - R_PAGE_BYTES - 3 * sizeof(size_t)) == NULL) return;
  if (madvise((void *)begin, FRESH_BYTES, MADV_HUGEPAGE) == 0) fresh = (struct range){begin, FRESH_BYTES};
}

/*
 * Allocates blocks of R_PAGE_BYTES until none fits below the free end of the heap.
 * @return address at which this free end began before the call.
 */
static uintptr_t fill_chunks(void) {
  const uintptr_t top = (uintptr_t)sbrk(0) - mallinfo2().keepcost;
  for (uintptr_t chunk = 1; chunk != 0 && chunk < top;) chunk = (uintptr_t)malloc(R_PAGE_BYTES);
  return top;
}

/*
 * Allocates objects of one size class until one lies at `top` or higher, in the free end of the heap. Allocates at most
 * MAX_OBJECTS of this class.
 */
static void fill_class(SEXP filler, ptrdiff_t doubles, uintptr_t top) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    SEXP object = doubles > 0 ? Rf_allocVector(REALSXP, doubles) : Rf_cons(filler, CDR(filler));
    SETCDR(filler, doubles > 0 ? Rf_cons(object, CDR(filler)) : object);
    if ((uintptr_t)object >= top) return;
  }
}

/*
 * @param filler pairlist of one element, to which the objects that fill R's pages are added; the caller must keep
 * `filler` alive.
 * @return `filler`, because a function called by .Call must return an R object.
 */
SEXP tm_fill(SEXP filler) {
  /* The largest vector of each of R's size classes, as a number of doubles; 0 stands for a cons cell. */
  static const ptrdiff_t classes[] = {1, 2, 4, 8, 16, 0};
  if (!Rf_allocVector || !Rf_cons || !CDR || !SETCDR) return filler;
  const uintptr_t top = fill_chunks();
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) fill_class(filler, classes[i], top);
  (void)fill_chunks();
  return filler;
}
