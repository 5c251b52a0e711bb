/*
 * Decodes a request frame into R objects (../FRAMES.md). The decoder is written in C, because R code that read the
 * frame from an R connection took 0.3 ms per run. The decoder runs in the runner process, within the limits of that
 * process. Most malformed frames raise an R error; the calculator sends no malformed frame.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_MAGIC 0x32514d54 /* "TMQ2" */
#define BUFFER_BYTES 16384
#define UTF8 1 /* R's encoding CE_UTF8 (Rinternals.h) */

/* Functions and values of libR that this file uses. They are declared here, so that this file needs no R headers. */
extern SEXP Rf_allocVector(unsigned, ptrdiff_t), Rf_protect(SEXP), Rf_mkCharLenCE(const char *, int, int), Rf_mkChar(const char *);
extern SEXP Rf_ScalarLogical(int);
extern SEXP Rf_setAttrib(SEXP, SEXP, SEXP), Rf_mkString(const char *);
extern SEXP STRING_ELT(SEXP, ptrdiff_t), SET_VECTOR_ELT(SEXP, ptrdiff_t, SEXP);
extern void SET_STRING_ELT(SEXP, ptrdiff_t, SEXP), Rf_unprotect(int);
extern int *INTEGER(SEXP), R_NaInt;
extern double *REAL(SEXP);
extern char *R_alloc(size_t, int);
extern const char *R_CHAR(SEXP);
extern int TYPEOF(SEXP);
extern SEXP R_NilValue, R_NamesSymbol, R_ClassSymbol, R_RowNamesSymbol;
extern void Rf_error(const char *, ...) __attribute__((noreturn, format(printf, 1, 2)));

struct reader {
  int fd;
  char buffer[BUFFER_BYTES];
  size_t from, to;
};

static size_t read_some(struct reader *r, void *bytes, size_t capacity) {
  ssize_t n;
  do n = read(r->fd, bytes, capacity);
  while (n < 0 && errno == EINTR);
  if (n <= 0) Rf_error("the request ended early");
  return (size_t)n;
}

/*
 * Copies the bytes in the buffer first. Then, while at least BUFFER_BYTES bytes are missing, reads them without the
 * buffer.
 */
static void take(struct reader *r, void *bytes, size_t size) {
  for (char *at = bytes; size > 0;) {
    if (r->from == r->to && size >= BUFFER_BYTES) {
      size_t n = read_some(r, at, size);
      at += n, size -= n;
      continue;
    }
    if (r->from == r->to) r->from = 0, r->to = read_some(r, r->buffer, BUFFER_BYTES);
    size_t n = r->to - r->from < size ? r->to - r->from : size;
    memcpy(at, r->buffer + r->from, n);
    r->from += n, at += n, size -= n;
  }
}

static int take_int(struct reader *r) {
  int32_t value;
  take(r, &value, sizeof value);
  return value;
}

static int take_count(struct reader *r) {
  const int count = take_int(r);
  if (count < 0) Rf_error("the request has a count below 0");
  return count;
}

static SEXP take_ints(struct reader *r, int count) {
  SEXP vector = Rf_protect(Rf_allocVector(INTSXP, count));
  take(r, INTEGER(vector), (size_t)count * sizeof(int32_t));
  Rf_unprotect(1);
  return vector;
}

static SEXP take_doubles(struct reader *r, int count) {
  SEXP vector = Rf_protect(Rf_allocVector(REALSXP, count));
  take(r, REAL(vector), (size_t)count * sizeof(double));
  Rf_unprotect(1);
  return vector;
}

/* Reads `count` texts: first the byte lengths of all texts, then the bytes of all texts. */
static SEXP take_texts(struct reader *r, int count) {
  SEXP texts = Rf_protect(Rf_allocVector(STRSXP, count)), lengths = Rf_protect(take_ints(r, count));
  int longest = 0;
  for (int i = 0; i < count; i++) {
    if (INTEGER(lengths)[i] < 0) Rf_error("the request has a text of less than 0 bytes");
    if (INTEGER(lengths)[i] > longest) longest = INTEGER(lengths)[i];
  }
  char *bytes = R_alloc((size_t)longest + 1, 1);
  for (int i = 0; i < count; i++) {
    take(r, bytes, (size_t)INTEGER(lengths)[i]);
    SET_STRING_ELT(texts, i, Rf_mkCharLenCE(bytes, INTEGER(lengths)[i], UTF8));
  }
  Rf_unprotect(2);
  return texts;
}

/*
 * Reads a column of texts: first the table of the distinct texts, then a code for each row. A code is the zero-based
 * index of the text in the table.
 */
static SEXP take_coded(struct reader *r, int rows) {
  const int count = take_count(r);
  SEXP table = Rf_protect(take_texts(r, count)), codes = Rf_protect(take_ints(r, rows));
  SEXP column = Rf_protect(Rf_allocVector(STRSXP, rows));
  for (int i = 0; i < rows; i++) {
    const int code = INTEGER(codes)[i];
    if (code < 0 || code >= count) Rf_error("the request has a code that is not in its table");
    SET_STRING_ELT(column, i, STRING_ELT(table, code));
  }
  Rf_unprotect(3);
  return column;
}

static SEXP take_scalar(struct reader *r) {
  const int kind = take_int(r);
  if (kind == 0) return R_NilValue;
  if (kind == 1) return take_doubles(r, 1);
  if (kind == 2) return take_texts(r, 1);
  if (kind == 3) return Rf_ScalarLogical(take_int(r) != 0);
  if (kind == 4) return take_ints(r, 1);
  Rf_error("the request has a scalar of an unknown kind");
}

static SEXP name_all(SEXP list, const char *const *names, int count) {
  SEXP texts = Rf_protect(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++) SET_STRING_ELT(texts, i, Rf_mkChar(names[i]));
  Rf_setAttrib(list, R_NamesSymbol, texts);
  Rf_unprotect(1);
  return list;
}

#define COUNT(array) (int)(sizeof array / sizeof *array)

/* Names of the members of a variable; only the target variable has the last two members. */
static const char *const VARIABLE[] = {"Id", "Name", "SourceId", "Granularity", "GranularityTimeBase", "QuantityType",
                                       "Aggregate", "SourceTimeZoneId", "ChangedFrom", "ChangedTo"};

static SEXP take_scalars(struct reader *r, const char *const *names, int count) {
  SEXP list = Rf_protect(Rf_allocVector(VECSXP, count));
  for (int i = 0; i < count; i++) SET_VECTOR_ELT(list, i, take_scalar(r));
  name_all(list, names, count);
  Rf_unprotect(1);
  return list;
}

/* Turns a list of columns into a data frame: sets its attributes for row names and class. */
static SEXP make_data_frame(SEXP columns, int rows) {
  SEXP row_names = Rf_protect(Rf_allocVector(INTSXP, rows > 0 ? 2 : 0));
  /* Row names 1 to `rows` in R's compact form, c(NA, -rows). */
  if (rows > 0) INTEGER(row_names)[0] = R_NaInt, INTEGER(row_names)[1] = -rows;
  Rf_setAttrib(columns, R_RowNamesSymbol, row_names);
  SEXP class = Rf_protect(Rf_mkString("data.frame"));
  Rf_setAttrib(columns, R_ClassSymbol, class);
  Rf_unprotect(2);
  return columns;
}

static SEXP take_series(struct reader *r) {
  static const char *const names[] = {"Dates", "Values", "Version", "Tags"};
  const int rows = take_count(r);
  /* Size of each date in bytes: 8 (double) if any date is outside the range of R's integers, otherwise 4 (integer). */
  const int date_bytes = take_int(r);
  SEXP columns = Rf_protect(Rf_allocVector(VECSXP, COUNT(names)));
  SET_VECTOR_ELT(columns, 0, date_bytes == 8 ? take_doubles(r, rows) : take_ints(r, rows));
  SET_VECTOR_ELT(columns, 1, take_doubles(r, rows));
  SET_VECTOR_ELT(columns, 2, take_coded(r, rows));
  SET_VECTOR_ELT(columns, 3, take_coded(r, rows));
  name_all(columns, names, COUNT(names));
  make_data_frame(columns, rows);
  Rf_unprotect(1);
  return columns;
}

static SEXP take_input(struct reader *r) {
  static const char *const names[] = {"Variable", "TimeSeries", "From", "To"};
  SEXP input = Rf_protect(Rf_allocVector(VECSXP, COUNT(names)));
  SET_VECTOR_ELT(input, 0, take_scalars(r, VARIABLE, COUNT(VARIABLE) - 2));
  SET_VECTOR_ELT(input, 2, take_scalar(r));
  SET_VECTOR_ELT(input, 3, take_scalar(r));
  SET_VECTOR_ELT(input, 1, take_series(r));
  name_all(input, names, COUNT(names));
  Rf_unprotect(1);
  return input;
}

static SEXP take_aliased(struct reader *r, SEXP (*take_one)(struct reader *)) {
  const int count = take_count(r);
  SEXP list = Rf_protect(Rf_allocVector(VECSXP, count)), aliases = Rf_protect(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++) {
    SET_STRING_ELT(aliases, i, STRING_ELT(take_texts(r, 1), 0));
    SET_VECTOR_ELT(list, i, take_one(r));
  }
  Rf_setAttrib(list, R_NamesSymbol, aliases);
  Rf_unprotect(2);
  return list;
}

static SEXP take_globals(struct reader *r) {
  static const char *const names[] = {"triggerDate", "targetVariable", "inputVariables", "inputForms", "inputConstants"};
  SEXP globals = Rf_protect(Rf_allocVector(VECSXP, COUNT(names)));
  SET_VECTOR_ELT(globals, 0, take_scalar(r));
  SET_VECTOR_ELT(globals, 1, take_scalars(r, VARIABLE, COUNT(VARIABLE)));
  SET_VECTOR_ELT(globals, 2, take_aliased(r, take_input));
  SET_VECTOR_ELT(globals, 3, take_aliased(r, take_scalar));
  SET_VECTOR_ELT(globals, 4, take_aliased(r, take_scalar));
  name_all(globals, names, COUNT(names));
  Rf_unprotect(1);
  return globals;
}

static SEXP take_request(struct reader *r) {
  static const char *const names[] = {"script", "globals", "files", "seed"};
  static const char *const files[] = {"none", "svg", "png"};
  if (take_int(r) != REQUEST_MAGIC) Rf_error("not a request frame");
  SEXP request = Rf_protect(Rf_allocVector(VECSXP, COUNT(names)));
  SET_VECTOR_ELT(request, 0, take_texts(r, 1));
  SET_VECTOR_ELT(request, 1, take_globals(r));
  const int kind = take_int(r);
  if (kind < 0 || kind >= COUNT(files)) Rf_error("the request wants files of an unknown kind");
  SET_VECTOR_ELT(request, 2, Rf_mkString(files[kind]));
  SET_VECTOR_ELT(request, 3, take_ints(r, 1));
  name_all(request, names, COUNT(names));
  Rf_unprotect(1);
  return request;
}

/*
 * Reads a request frame.
 * @param path R text with the path of the file that holds the frame, or NULL to read standard input.
 * @return list(script, globals, files, seed).
 */
SEXP tm_read_request(SEXP path) {
  struct reader r = {.fd = 0};
  if (TYPEOF(path) == STRSXP) r.fd = open(R_CHAR(STRING_ELT(path, 0)), O_RDONLY | O_CLOEXEC);
  if (r.fd < 0) Rf_error("the request cannot be opened");
  SEXP request = take_request(&r);
  if (r.fd > 0) close(r.fd);
  return request;
}
