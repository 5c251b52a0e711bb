# Codec of the columnar frames that enter and leave the sandbox: little-endian, without R serialisation (R-H7). Byte layouts:
# ../FRAMES.md; the other end is src/calculation/sandbox/frame.ts.

result_magic <- 0x32524d54L # "TMR2"

#' Reads a request: the script, the five globals (R-H2), the wanted file format and the seed (../src/request.c).
#' @param path file that holds the frame; NULL reads standard input.
#' @return list(script, globals, files, seed).
#' @noRd
read_request <- function(path = NULL) .Call("tm_read_request", path, PACKAGE = "sandbox")

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

# Joins texts into raw bytes. charToRaw() keeps the bytes unchanged.
writeBin_texts <- function(texts) charToRaw(paste(texts, collapse = ""))

text_bytes <- function(text) texts_bytes(paste(as.character(text), collapse = "\n"))

counted_texts_bytes <- function(texts) c(int_bytes(length(texts)), texts_bytes(texts))

# Encodes a text column with its length, because the columns of a script's result may differ in length (§7). The length
# -1 means an absent column. Only the distinct texts are cleaned: cleaning every row takes 10 ms more CPU time per
# 100,000 points.
coded_bytes <- function(texts) {
  if (is.null(texts)) return(int_bytes(-1L))
  given <- unique(texts)
  cleaned <- clean_text(given)
  table <- unique(cleaned)
  codes <- match(texts, given) - 1L
  # Cleaning can make two distinct texts equal: for example, it replaces NA with the empty text.
  if (length(table) < length(given)) codes <- (match(cleaned, table) - 1L)[codes + 1L]
  c(int_bytes(length(texts)), counted_texts_bytes(table), int_bytes(codes))
}

# @return list of raw vectors. Joining them would double the memory of a large answer, so join_small() joins small answers only.
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

# Joins the parts of a small answer, so that one write sends it: every write wakes the supervisor, which wakes the
# calculator.
join_small <- function(parts, max_bytes = 65536) {
  if (sum(lengths(parts)) > max_bytes) parts else list(do.call(c, parts))
}

files_parts <- function(files) {
  parts <- lapply(files, function(file) list(text_bytes(file$name), int_bytes(length(file$bytes)), file$bytes))
  c(list(int_bytes(length(files))), unlist(parts, recursive = FALSE))
}

result_statuses <- c("ok", "script_error", "memory", "output_size", "processes")
