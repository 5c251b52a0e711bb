# Evaluates a script inside the confined runner. Collects the script's result and its notes, which are messages and
# warnings.

#' Evaluates a script against its globals.
#' @param script source of the script. @param globals named list that is copied into `envir`.
#' @param limits list(max_points, max_text_bytes).
#' @param envir environment of the script: the global environment, because scripts use `<<-` and get().
#' @param report_line function called before each top-level expression of the script, with the line of the expression.
#' @return list for `result_parts`. It always has status, notes and errors. When the status is "ok", it also has series;
#' otherwise it also has message, call and line.
#' @noRd
run_script <- function(script, globals, limits, envir = globalenv(), report_line = function(line) NULL) {
  notes <- new_notes(limits$max_text_bytes - remark_bytes)
  # list2env() also assigns globals whose value is NULL, so every global exists.
  list2env(globals, envir)
  outcome <- tryCatch(
    {
      expressions <- parse_script(script)
      if (length(expressions) == 0L) stop(output_error(expected_text, ", got NULL: the script is empty"))
      output <- as_output(evaluate(expressions, envir, notes, report_line), limits$max_points)
      for (text in output$warnings) keep_note(notes, "warnings", text)
      list(status = "ok", series = output$series, errors = output$errors)
    },
    # The supervisor interrupts a run at its time limit and kills it 0.3 s later (../src/supervise.c).
    interrupt = function(condition) describe_error(simpleError("interrupted"), notes),
    tidemark_quit = function(condition) describe_error(condition, notes),
    # A stack overflow leaves no calls to inspect, so its error carries the line of the top-level expression.
    error = function(condition) describe_error(condition, notes)
  )
  for (hint in find_hints(script, globals, outcome$status)) keep_note(notes, "warnings", hint)
  outcome$notes <- list(messages = kept_notes(notes, "messages"), warnings = kept_notes(notes, "warnings"))
  outcome
}

# Replaces R's quit(), which would lose the notes of the run. The condition is not of class "error", because try() in
# the script would catch an error.
refuse_quit <- function(...) {
  message <- "the script called quit(), which ends R before the last expression; use stop() to fail, or an if around the rest"
  stop(structure(class = c("tidemark_quit", "condition"), list(message = message, call = NULL)))
}

parse_script <- function(script) {
  script <- gsub("\r\n?", "\n", script)
  tryCatch(
    parse(text = script, keep.source = TRUE, srcfile = srcfilecopy("script", strsplit(script, "\n", fixed = TRUE)[[1]])),
    error = function(condition) stop(syntax_error(condition, script))
  )
}

# Converts R's syntax error to a tidemark_syntax_error. If a string or bracket is not closed, the new error names the
# line on which it opens. R's message begins with "<file>:LINE:COLUMN: ".
syntax_error <- function(condition, script) {
  text <- conditionMessage(condition)
  place <- regmatches(text, regexec("^[^\n]*?:([0-9]+):([0-9]+): ", text))[[1]]
  line <- if (length(place) == 3L) as.integer(place[2]) else NA_integer_
  message <- sub("^[^\n]*?:[0-9]+:[0-9]+: ", "", text)
  is_at_end <- grepl("^unexpected end of input", message)
  open <- find_open_bracket(script, if (is_at_end) Inf else line)
  if (grepl("^unexpected INCOMPLETE_STRING", message)) message <- "the string that starts on this line has no closing quote"
  else if (is_at_end && !is.null(open)) {
    message <- paste0("unexpected end of the script: the `", open$bracket, "` of this line is not closed")
    line <- open$line
  } else if (!is.null(open) && open$line < line) {
    message <- paste0(message, "\nThe `", open$bracket, "` of line ", open$line, " is not closed before line ", line, ".")
  }
  structure(class = c("tidemark_syntax_error", "error", "condition"), list(message = message, call = NULL, line = line))
}

# Matches comments, raw strings, strings, names in backticks, and brackets.
token_pattern <- paste(
  "#[^\n]*", "(?s:[rR]([\"'])(-*)(?:\\(.*?\\)|\\[.*?\\]|\\{.*?\\})\\2\\1)", "(?s:\"(?:[^\"\\\\]++|\\\\.)*+\")",
  "(?s:'(?:[^'\\\\]++|\\\\.)*+')", "`[^`]*`", "[][(){}]",
  sep = "|"
)
closing <- c("(" = ")", "[" = "]", "{" = "}")

# Finds the innermost bracket that is still open before line `line` of the script.
# @return the bracket and its line; NULL when no bracket is open.
find_open_bracket <- function(script, line) {
  if (is.na(line)) return(NULL)
  lines <- strsplit(script, "\n", fixed = TRUE)[[1]]
  text <- paste(lines[seq_len(min(length(lines), line - 1))], collapse = "\n")
  found <- gregexpr(token_pattern, text, perl = TRUE)[[1]]
  tokens <- substring(text, found, found + attr(found, "match.length") - 1L)
  open <- integer()
  for (i in which(nchar(tokens) == 1L)) {
    if (tokens[i] %in% names(closing)) open <- c(open, i)
    else if (length(open) > 0L && identical(closing[[tokens[open[length(open)]]]], tokens[i])) open <- open[-length(open)]
  }
  if (length(open) == 0L) return(NULL)
  last <- open[length(open)]
  list(bracket = tokens[last], line = line_of(text, found[last]))
}

# @return the line of the character at `position`; the first line is 1.
line_of <- function(text, position) {
  1L + sum(utf8ToInt(substr(text, 1L, position - 1L)) == 10L)
}

# The call that R reports for a stop() or warning() at the top level of a script. Errors and notes do not show it.
own_call <- quote(eval(expressions[[i]], envir))

evaluate <- function(expressions, envir, notes, report_line) {
  references <- attr(expressions, "srcref")
  value <- NULL
  withCallingHandlers(
    for (i in seq_along(expressions)) {
      notes$top_line <- if (is.null(references)) NA_integer_ else references[[i]][1]
      report_line(notes$top_line)
      value <- eval(expressions[[i]], envir)
    },
    warning = function(condition) {
      add_note(notes, "warnings", condition)
      invokeRestart("muffleWarning")
    },
    message = function(condition) {
      if (!inherits(condition, "packageStartupMessage")) add_note(notes, "messages", condition)
      invokeRestart("muffleMessage")
    },
    # A calling handler runs while the stack of the error still exists; the stack holds the innermost line of the
    # script.
    error = function(condition) notes$line <- script_line(sys.calls(), notes$top_line),
    interrupt = function(condition) notes$line <- script_line(sys.calls(), notes$top_line),
    tidemark_quit = function(condition) notes$line <- script_line(sys.calls(), notes$top_line)
  )
  value
}

# Finds the innermost line of the script on the stack: only the script's own code has source references to the file
# "script".
script_line <- function(calls, top_line) {
  for (call in rev(calls)) {
    reference <- attr(call, "srcref")
    file <- if (is.null(reference)) NULL else attr(reference, "srcfile")$filename
    if (identical(file, "script")) return(reference[1])
  }
  top_line
}

# Bytes reserved for the remarks that tell the user which notes were cut and how many were dropped.
remark_bytes <- 200

new_notes <- function(max_bytes) {
  list2env(list(
    messages = character(), warnings = character(), dropped = c(messages = 0L, warnings = 0L), bytes_left = max_bytes,
    line = NA_integer_, top_line = NA_integer_
  ), parent = emptyenv())
}

# Adds a message or warning (`condition`) to the notes. Call add_note in the handler of the condition, because later the
# stack no longer has the script line.
add_note <- function(notes, kind, condition) {
  if (notes$bytes_left <= 0) return(keep_note(notes, kind, ""))
  text <- sub("\n$", "", clean_text(paste(conditionMessage(condition), collapse = "\n")))
  if (kind == "warnings") {
    call <- conditionCall(condition)
    if (!is.null(call) && !identical(call, own_call)) text <- paste0("in ", call_text(call), ": ", text)
    line <- script_line(sys.calls(), notes$top_line)
    if (!is.na(line)) text <- paste0(text, " (line ", line, ")")
  }
  keep_note(notes, kind, text)
}

keep_note <- function(notes, kind, text) {
  if (notes$bytes_left <= 0) {
    notes$dropped[[kind]] <- notes$dropped[[kind]] + 1L
    return(invisible())
  }
  bytes <- nchar(text, type = "bytes")
  if (bytes > notes$bytes_left) text <- paste0(substr(text, 1L, notes$bytes_left %/% 4), " (cut)")
  # A text counts as at least 16 bytes, so that the number of empty messages is bounded too.
  notes$bytes_left <- notes$bytes_left - max(bytes, 16)
  notes[[kind]] <- c(notes[[kind]], text)
}

kept_notes <- function(notes, kind) {
  dropped <- notes$dropped[[kind]]
  if (dropped == 0L) return(notes[[kind]])
  what <- if (dropped == 1L) paste(sub("s$", "", kind), "was") else paste(kind, "were")
  c(notes[[kind]], paste("\u2026", dropped, "more", what, "not kept"))
}

call_text <- function(call) {
  text <- tryCatch(deparse(call, nlines = 1L, width.cutoff = 120L)[1], error = function(e) "")
  substr(clean_text(text), 1L, 300L)
}

memory_pattern <- paste(
  "cannot allocate", "could not allocate", "unable to allocate", "memory exhausted", "std::bad_alloc",
  "out of memory", "Cannot enlarge memory",
  sep = "|"
)
processes_pattern <- "unable to fork|cannot fork|Resource temporarily unavailable"

describe_error <- function(condition, notes) {
  # An error about the script's value gets the line of the last expression, because `notes$line` may be the line of an
  # earlier error that the script caught.
  is_of_output <- inherits(condition, c("tidemark_output_error", "tidemark_too_many_points"))
  line <- if (is_of_output || is.na(notes$line)) notes$top_line else notes$line
  message <- clean_text(conditionMessage(condition))
  is_ours <- inherits(condition, c("tidemark_output_error", "tidemark_too_many_points", "tidemark_syntax_error", "tidemark_quit"))
  status <- if (inherits(condition, "tidemark_too_many_points")) "output_size"
    else if (!is_ours && grepl(memory_pattern, message[1], ignore.case = TRUE)) "memory"
    else if (!is_ours && grepl(processes_pattern, message[1])) "processes"
    else "script_error"
  if (inherits(condition, "tidemark_syntax_error")) line <- condition$line
  # An error that the script returned in `Errors` has no line.
  if (inherits(condition, "tidemark_reported_error")) line <- NA_integer_
  if (inherits(condition, "packageNotFoundError")) {
    message <- paste0(message, "; GET /calculated/packages lists the packages of this installation")
  }
  call <- conditionCall(condition)
  if (identical(call, own_call)) call <- NULL
  list(
    status = status, message = substr(paste(message, collapse = "\n"), 1L, 10000L),
    call = if (is.null(call) || is_ours) "" else call_text(call), line = if (is.na(line)) 0L else line,
    errors = if (inherits(condition, "tidemark_reported_error")) condition$errors else character()
  )
}
