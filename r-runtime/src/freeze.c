/*
 * Freezes the zygote's objects before the zygote forks: sets their reference counts to the maximum, which R never
 * changes. With smaller counts, every run would write to these objects, and so copy their memory pages. If R lacks a
 * function that this file uses and request.c does not, nothing is frozen, and runs are slower.
 * Measured: ../MEASUREMENTS.md.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Functions of libR, declared weak. An R that lacks a weak function still loads sandbox.so, unless request.c uses the
 * function too.
 */
#define R_FUNCTION __attribute__((weak)) extern
R_FUNCTION int TYPEOF(SEXP);
R_FUNCTION int ALTREP(SEXP);
R_FUNCTION SEXP ATTRIB(SEXP);
R_FUNCTION SEXP CAR(SEXP);
R_FUNCTION SEXP CDR(SEXP);
R_FUNCTION SEXP TAG(SEXP);
R_FUNCTION SEXP PRINTNAME(SEXP);
R_FUNCTION SEXP SYMVALUE(SEXP);
R_FUNCTION SEXP INTERNAL(SEXP);
R_FUNCTION SEXP STRING_ELT(SEXP, ptrdiff_t);
R_FUNCTION SEXP VECTOR_ELT(SEXP, ptrdiff_t);
R_FUNCTION ptrdiff_t Rf_xlength(SEXP);
R_FUNCTION void MARK_NOT_MUTABLE(SEXP);

/* `seen` is a hash set with open addressing, `pending` a stack of objects to visit. */
#define SLOTS (1u << 24)
struct walk {
  SEXP *seen, *pending;
  size_t seen_count, pending_count;
};

static int has_all_functions(void) {
  return TYPEOF && ALTREP && ATTRIB && CAR && CDR && TAG && PRINTNAME && SYMVALUE && INTERNAL && STRING_ELT && VECTOR_ELT &&
         Rf_xlength && MARK_NOT_MUTABLE;
}

static void *reserve(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/*
 * Marks an object as seen and queues it for a visit. Uses at most half of the slots: once half are used, further
 * objects are not visited and keep their reference counts.
 */
static void visit(struct walk *w, SEXP object) {
  if (!object || w->seen_count >= SLOTS / 2) return;
  size_t slot = (size_t)(((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull >> 40);
  while (w->seen[slot] && w->seen[slot] != object) slot = (slot + 1) % SLOTS;
  if (w->seen[slot]) return;
  w->seen[slot] = object;
  w->seen_count++;
  w->pending[w->pending_count++] = object;
}

/*
 * A cons cell of a compiled loop may hold a bare number instead of an object. The field `extra` in the header of the
 * cell is then the type of the number.
 */
static int has_bare_value(SEXP object) {
  uint16_t extra;
  memcpy(&extra, (char *)object + 6, sizeof extra);
  return extra != 0;
}

static void visit_cell(struct walk *w, SEXP object) {
  if (!has_bare_value(object)) visit(w, CAR(object));
  visit(w, CDR(object));
  visit(w, TAG(object));
}

static void visit_elements(struct walk *w, SEXP object, SEXP (*element)(SEXP, ptrdiff_t)) {
  if (ALTREP(object)) return;
  for (ptrdiff_t i = Rf_xlength(object); i-- > 0;) visit(w, element(object, i));
}

static void visit_parts(struct walk *w, SEXP object) {
  switch (TYPEOF(object)) {
    case SYMSXP:
      visit(w, PRINTNAME(object));
      visit(w, SYMVALUE(object));
      return visit(w, INTERNAL(object));
    /* Objects of these types have the layout of a cons cell. */
    case LISTSXP: case CLOSXP: case ENVSXP: case PROMSXP: case LANGSXP: case DOTSXP: case BCODESXP:
      return visit_cell(w, object);
    case EXTPTRSXP:
      visit(w, CDR(object));
      return visit(w, TAG(object));
    case STRSXP:
      return visit_elements(w, object, STRING_ELT);
    case VECSXP: case EXPRSXP:
      return visit_elements(w, object, VECTOR_ELT);
    default:
      return;
  }
}

/*
 * @param roots R list; the objects that it reaches are frozen.
 * @return roots, because .Call must return an R object.
 */
SEXP tm_freeze(SEXP roots) {
  struct walk w = {0};
  if (!has_all_functions()) return roots;
  w.seen = reserve(SLOTS * sizeof(SEXP));
  w.pending = reserve(SLOTS / 2 * sizeof(SEXP));
  if (w.seen && w.pending) visit(&w, roots);
  while (w.pending_count > 0) {
    SEXP object = w.pending[--w.pending_count];
    int type = TYPEOF(object);
    /* A CHARSXP has no attributes: its attribute field links the objects of R's table of strings. */
    if (type != CHARSXP) visit(&w, ATTRIB(object));
    if (type != WEAKREFSXP) visit_parts(&w, object);
    if (type == BCODESXP) note_constants(CDR(object));
    MARK_NOT_MUTABLE(object);
  }
  if (w.seen) munmap(w.seen, SLOTS * sizeof(SEXP));
  if (w.pending) munmap(w.pending, SLOTS / 2 * sizeof(SEXP));
  return roots;
}
