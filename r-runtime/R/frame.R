# Codec of the columnar frames that enter and leave the sandbox: little-endian, without R serialisation (R-H7). Byte layouts:
# ../FRAMES.md; the other end is src/calculation/sandbox/frame.ts.

request_magic <- 0x32514d54L # "TMQ2"
result_magic <- 0x32524d54L # "TMR2"

# --- reading -----------------------------------------------------------------------------------------------------

read_ints <- function(con, n) readBin(con, "integer", n, size = 4L, endian = "little")
read_doubles <- function(con, n) readBin(con, "double", n, size = 8L, endian = "little")
read_int <- function(con) {
  value <- readBin(con, "integer", 1L, size = 4L, endian = "little")
  if (length(value) != 1L) stop("the request ended early")
  value
}

read_text <- function(con) read_texts(con, 1L)

# Reads `n` texts: first the byte lengths of all of them, then the bytes of all of them.
read_texts <- function(con, n) {
  if (n == 0L) return(character())
  texts <- readChar(con, read_ints(con, n), useBytes = TRUE)
  Encoding(texts) <- "UTF-8"
  texts
}

# Reads a dictionary-coded text column: the table of its texts, then a zero-based code for each row.
read_coded <- function(con, n) {
  texts <- read_texts(con, read_int(con))
  texts[read_ints(con, n) + 1L]
}

read_scalar <- function(con) {
  switch(read_int(con) + 1L,
    NULL,
    read_doubles(con, 1L),
    read_text(con),
    read_int(con) != 0L,
    read_int(con)
  )
}

variable_fields <- c(
  "Id", "Name", "SourceId", "Granularity", "GranularityTimeBase", "QuantityType", "Aggregate", "SourceTimeZoneId"
)

# Assigning list(NULL) keeps the name of a NULL value.
read_named <- function(con, names, read_one) {
  values <- vector("list", length(names))
  for (i in seq_along(names)) values[i] <- list(read_one(con))
  names(values) <- names
  values
}

read_aliased <- function(con, read_one) {
  n <- read_int(con)
  values <- vector("list", n)
  aliases <- character(n)
  for (i in seq_len(n)) {
    aliases[i] <- read_text(con)
    values[i] <- list(read_one(con))
  }
  names(values) <- aliases
  values
}

read_series <- function(con) {
  n <- read_int(con)
  # Dates are integers, or doubles when one is after 2038-01-19.
  read_dates <- if (read_int(con) == 8L) read_doubles else read_ints
  # Sets the attributes of a data frame on a list: calling data.frame() would take 0.2 ms and check the columns again.
  columns <- list(
    Dates = read_dates(con, n), Values = read_doubles(con, n),
    Version = read_coded(con, n), Tags = read_coded(con, n)
  )
  attr(columns, "row.names") <- .set_row_names(n)
  class(columns) <- "data.frame"
  columns
}

read_input <- function(con) {
  variable <- read_named(con, variable_fields, read_scalar)
  window <- read_named(con, c("From", "To"), read_scalar)
  c(list(Variable = variable, TimeSeries = read_series(con)), window)
}

# Reads a request: the script, the five globals (R-H2), the wanted file format and the seed.
read_request <- function(con) {
  if (read_int(con) != request_magic) stop("not a request frame")
  list(
    script = read_text(con),
    globals = list(
      triggerDate = read_scalar(con),
      targetVariable = read_named(con, c(variable_fields, "ChangedFrom", "ChangedTo"), read_scalar),
      inputVariables = read_aliased(con, read_input),
      inputForms = read_aliased(con, read_scalar),
      inputConstants = read_aliased(con, read_scalar)
    ),
    files = file_kinds[read_int(con) + 1L],
    seed = read_int(con)
  )
}

# --- writing -----------------------------------------------------------------------------------------------------

int_bytes <- function(x) writeBin(as.integer(x), raw(), size = 4L, endian = "little")
double_bytes <- function(x) writeBin(as.double(x), raw(), size = 8L, endian = "little")

clean_text <- function(x) {
  x <- enc2utf8(as.character(x))
  x[is.na(x)] <- ""
  bad <- !validUTF8(x)
  if (any(bad)) x[bad] <- iconv(x[bad], "UTF-8", "UTF-8", sub = "?")
  x
}

texts_bytes <- function(texts) {
  if (length(texts) == 0L) return(raw())
  texts <- clean_text(texts)
  bytes <- nchar(texts, type = "bytes")
  c(int_bytes(bytes), writeBin_texts(texts))
}

# charToRaw() keeps the bytes unchanged.
writeBin_texts <- function(texts) charToRaw(paste(texts, collapse = ""))

text_bytes <- function(text) texts_bytes(paste(as.character(text), collapse = "\n"))

counted_texts_bytes <- function(texts) c(int_bytes(length(texts)), texts_bytes(texts))

# Encodes a text column. Each column states its own length, because the calculator applies the length rules of §7; -1
# stands for an absent column. Cleans the distinct texts only: cleaning every row raised the CPU time of a run of
# 100,000 points from 35 to 45 ms.
coded_bytes <- function(texts) {
  if (is.null(texts)) return(int_bytes(-1L))
  given <- unique(texts)
  cleaned <- clean_text(given)
  table <- unique(cleaned)
  codes <- match(texts, given) - 1L
  # Cleaning can make two distinct texts equal: NA becomes the empty text.
  if (length(table) < length(given)) codes <- (match(cleaned, table) - 1L)[codes + 1L]
  c(int_bytes(length(texts)), counted_texts_bytes(table), int_bytes(codes))
}

# @return list of raw vectors. Joining all would double the memory of a large answer, so only join_small() joins them.
result_parts <- function(result) {
  head <- list(
    int_bytes(c(result_magic, match(result$status, result_statuses) - 1L)),
    counted_texts_bytes(result$notes$messages), counted_texts_bytes(result$notes$warnings)
  )
  body <- if (result$status == "ok") {
    series <- result$series
    list(
      counted_texts_bytes(result$errors),
      int_bytes(length(series$Dates)), double_bytes(series$Dates),
      int_bytes(length(series$Values)), double_bytes(series$Values),
      coded_bytes(series$Version), coded_bytes(series$Tags)
    )
  } else {
    list(text_bytes(result$message), text_bytes(result$call), int_bytes(result$line), counted_texts_bytes(result$errors))
  }
  c(head, body, files_parts(result$files))
}

# Joins the parts of a small answer into one write: every write wakes the supervisor, which wakes the calculator.
join_small <- function(parts, max_bytes = 65536) {
  if (sum(lengths(parts)) > max_bytes) parts else list(do.call(c, parts))
}

files_parts <- function(files) {
  parts <- lapply(files, function(file) list(text_bytes(file$name), int_bytes(length(file$bytes)), file$bytes))
  c(list(int_bytes(length(files))), unlist(parts, recursive = FALSE))
}

result_statuses <- c("ok", "script_error", "memory", "output_size", "processes")
