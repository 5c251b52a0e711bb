/*
 * Sets the reference counts of all objects of the zygote to their maximum before it forks. R counts references inside
 * objects, so a run that only calls functions of packages writes to their pages and copies them; a count at its maximum is
 * never written again. R then treats the objects as shared, to be copied before a change, like constants of compiled
 * functions. Objects that a run creates are counted as usual. (Compare gc.freeze() for Python's forking servers.) Best
 * effort: where R lacks a function used here, runs are slower, with equal results. Measured: ../MEASUREMENTS.md.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void *SEXP;

/* Functions of libR. Weak, so that an R without one of them still loads the helper. */
#define OF_R __attribute__((weak)) extern
OF_R int TYPEOF(SEXP);
OF_R int ALTREP(SEXP);
OF_R SEXP ATTRIB(SEXP);
OF_R SEXP CAR(SEXP);
OF_R SEXP CDR(SEXP);
OF_R SEXP TAG(SEXP);
OF_R SEXP PRINTNAME(SEXP);
OF_R SEXP SYMVALUE(SEXP);
OF_R SEXP INTERNAL(SEXP);
OF_R SEXP STRING_ELT(SEXP, ptrdiff_t);
OF_R SEXP VECTOR_ELT(SEXP, ptrdiff_t);
OF_R ptrdiff_t Rf_xlength(SEXP);
OF_R void MARK_NOT_MUTABLE(SEXP);

/* R's numbers of types (Rinternals.h). */
enum {
  SYMBOL = 1, PAIRLIST = 2, CLOSURE = 3, ENVIRONMENT = 4, PROMISE = 5, CALL = 6, CHARACTERS = 9, TEXTS = 16, DOTS = 17,
  LIST = 19, EXPRESSION = 20, BYTECODE = 21, POINTER = 22, WEAK_REFERENCE = 23
};

/* Objects seen, a hash set with open addressing, and a stack of those still to visit. */
#define SLOTS (1u << 24)
struct walk {
  SEXP *met, *waiting;
  size_t met_count, waiting_count;
};

static int is_possible(void) {
  return TYPEOF && ALTREP && ATTRIB && CAR && CDR && TAG && PRINTNAME && SYMVALUE && INTERNAL && STRING_ELT && VECTOR_ELT &&
         Rf_xlength && MARK_NOT_MUTABLE;
}

static void *reserve(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* At most half of the slots are used; further objects keep their counts. */
static void meet(struct walk *w, SEXP object) {
  if (!object || w->met_count >= SLOTS / 2) return;
  size_t slot = (size_t)(((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull >> 40);
  while (w->met[slot] && w->met[slot] != object) slot = (slot + 1) % SLOTS;
  if (w->met[slot]) return;
  w->met[slot] = object;
  w->met_count++;
  w->waiting[w->waiting_count++] = object;
}

/* A cell whose value is a bare number, as compiled loops keep them, has no object there (`extra` of R's header is its type). */
static int has_bare_value(SEXP object) {
  uint16_t extra;
  memcpy(&extra, (char *)object + 6, sizeof extra);
  return extra != 0;
}

static void meet_cell(struct walk *w, SEXP object) {
  if (!has_bare_value(object)) meet(w, CAR(object));
  meet(w, CDR(object));
  meet(w, TAG(object));
}

static void meet_elements(struct walk *w, SEXP object, SEXP (*element)(SEXP, ptrdiff_t)) {
  if (ALTREP(object)) return;
  for (ptrdiff_t i = Rf_xlength(object); i-- > 0;) meet(w, element(object, i));
}

static void meet_parts(struct walk *w, SEXP object) {
  switch (TYPEOF(object)) {
    case SYMBOL:
      meet(w, PRINTNAME(object));
      meet(w, SYMVALUE(object));
      return meet(w, INTERNAL(object));
    /* These have the layout of a list cell. */
    case PAIRLIST: case CLOSURE: case ENVIRONMENT: case PROMISE: case CALL: case DOTS: case BYTECODE:
      return meet_cell(w, object);
    case POINTER:
      meet(w, CDR(object));
      return meet(w, TAG(object));
    case TEXTS:
      return meet_elements(w, object, STRING_ELT);
    case LIST: case EXPRESSION:
      return meet_elements(w, object, VECTOR_ELT);
    default:
      return;
  }
}

/*
 * @param roots an R list from which everything can be reached.
 * @return roots, because .Call must return an R object.
 */
SEXP tm_freeze(SEXP roots) {
  struct walk w = {0};
  if (!is_possible()) return roots;
  w.met = reserve(SLOTS * sizeof(SEXP));
  w.waiting = reserve(SLOTS / 2 * sizeof(SEXP));
  if (w.met && w.waiting) meet(&w, roots);
  while (w.waiting_count > 0) {
    SEXP object = w.waiting[--w.waiting_count];
    int type = TYPEOF(object);
    /* Character objects use the attribute field for their hash chain. */
    if (type != CHARACTERS) meet(&w, ATTRIB(object));
    if (type != WEAK_REFERENCE) meet_parts(&w, object);
    MARK_NOT_MUTABLE(object);
  }
  if (w.met) munmap(w.met, SLOTS * sizeof(SEXP));
  if (w.waiting) munmap(w.waiting, SLOTS / 2 * sizeof(SEXP));
  return roots;
}
