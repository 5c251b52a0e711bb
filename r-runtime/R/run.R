# One run inside the confined runner: read, evaluate, write, end.

#' Evaluates a script against its globals.
#' @param script text; @param globals named list put into `envir`; @param limits list(max_points, max_text_bytes).
#' @param envir where the script runs: the global environment, because scripts use `<<-` and get().
#' @return list(status, notes, and series + errors or message + call + line): what `result_parts` writes.
#' @noRd
run_script <- function(script, globals, limits, envir = globalenv()) {
  notes <- new_notes(limits$max_text_bytes)
  # assign() of NULL keeps the name, as does list2env().
  list2env(globals, envir)
  outcome <- tryCatch(
    {
      value <- evaluate(parse_script(script), envir, notes)
      output <- as_output(value, limits$max_points)
      list(status = "ok", series = output$series, errors = output$errors)
    },
    # A stack that overflowed leaves no room for looking around: then the top-level line has to do.
    error = function(condition) describe_error(condition, if (is.na(notes$line)) notes$top_line else notes$line)
  )
  outcome$notes <- list(messages = notes$messages, warnings = notes$warnings)
  outcome
}

parse_script <- function(script) {
  script <- gsub("\r\n?", "\n", script)
  tryCatch(
    parse(text = script, keep.source = TRUE, srcfile = srcfilecopy("script", strsplit(script, "\n", fixed = TRUE)[[1]])),
    error = function(condition) stop(syntax_error(condition))
  )
}

# R's own text is "<file>:LINE:COLUMN: what\nsource lines".
syntax_error <- function(condition) {
  text <- conditionMessage(condition)
  line <- regmatches(text, regexec("^[^\n]*?:([0-9]+):([0-9]+): ", text))[[1]]
  structure(
    class = c("tidemark_syntax_error", "error", "condition"),
    list(
      message = sub("^[^\n]*?:[0-9]+:[0-9]+: ", "", text), call = NULL,
      line = if (length(line) == 3L) as.integer(line[2]) else NA_integer_
    )
  )
}

# What R names as the caller of a stop() or warning() at top level.
own_call <- quote(eval(expressions[[i]], envir))

evaluate <- function(expressions, envir, notes) {
  references <- attr(expressions, "srcref")
  value <- NULL
  withCallingHandlers(
    for (i in seq_along(expressions)) {
      notes$top_line <- if (is.null(references)) NA_integer_ else references[[i]][1]
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
    # The stack is still there, so the innermost line of the script itself can be found.
    error = function(condition) notes$line <- script_line(sys.calls(), notes$top_line)
  )
  value
}

# Package code carries no source references of the file "script"; pasted helper functions do.
script_line <- function(calls, top_line) {
  for (call in rev(calls)) {
    reference <- attr(call, "srcref")
    file <- if (is.null(reference)) NULL else attr(reference, "srcfile")$filename
    if (identical(file, "script")) return(reference[1])
  }
  top_line
}

new_notes <- function(max_bytes) {
  list2env(list(
    messages = character(), warnings = character(), room = max_bytes, line = NA_integer_, top_line = NA_integer_
  ), parent = emptyenv())
}

add_note <- function(notes, kind, condition) {
  if (notes$room <= 0) return(invisible())
  text <- sub("\n$", "", clean_text(paste(conditionMessage(condition), collapse = "\n")))
  call <- conditionCall(condition)
  if (kind == "warnings" && !is.null(call) && !identical(call, own_call)) text <- paste0("in ", call_text(call), ": ", text)
  bytes <- nchar(text, type = "bytes")
  if (bytes > notes$room) text <- paste0(substr(text, 1L, notes$room %/% 4), " (cut)")
  # Each text costs at least as much as its overhead: a million empty messages are bounded too.
  notes$room <- notes$room - max(bytes, 16)
  notes[[kind]] <- c(notes[[kind]], text)
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

describe_error <- function(condition, line) {
  message <- clean_text(conditionMessage(condition))
  is_ours <- inherits(condition, c("tidemark_output_error", "tidemark_too_many_points", "tidemark_syntax_error"))
  status <- if (inherits(condition, "tidemark_too_many_points")) "output_size"
    else if (!is_ours && grepl(memory_pattern, message[1], ignore.case = TRUE)) "memory"
    else if (!is_ours && grepl(processes_pattern, message[1])) "processes"
    else "script_error"
  if (inherits(condition, "tidemark_syntax_error")) line <- condition$line
  if (inherits(condition, "tidemark_output_error")) line <- NA_integer_
  call <- conditionCall(condition)
  if (identical(call, own_call)) call <- NULL
  list(
    status = status, message = substr(paste(message, collapse = "\n"), 1L, 10000L),
    call = if (is.null(call) || is_ours) "" else call_text(call), line = if (is.na(line)) 0L else line
  )
}
