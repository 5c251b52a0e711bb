# The zygote: a warm R process from which all runs are forked. It loads `warm_packages` and evaluates rehearsal scripts
# on made-up data, so that a child need not load these packages and the functions that scripts often use. It then calls
# C code (../src/zygote.c), which forks supervisors and runners before a client connects.

# The zygote loads these packages before the fork, so a run only attaches them. A script that uses another package loads
# it itself, within the limits of its run.
warm_packages <- c("dplyr", "lubridate", "zoo", "xts", "data.table", "purrr", "jsonlite", "tibble", "compiler")

runtime_home <- "/opt/tidemark/r-runtime"

#' Serves runs; never returns. The command line of the launcher calls it (src/calculation/sandbox/launcher.ts).
#' @param mode "namespaces" or "rlimits-only".
#' @noRd
zygote_main <- function(socket_path, mode) {
  prepare_session()
  for (package in warm_packages) loadNamespace(package)
  watch_zones()
  data.table::setDTthreads(1L)
  attach(toolbox(), name = "tidemark:toolbox", warn.conflicts = FALSE)
  rehearse()
  dyn.load(file.path(runtime_home, "sandbox.so"))
  rm(list = ls(globalenv(), all.names = TRUE), envir = globalenv())
  # Loads the functions of base now; otherwise, each run would load the functions of base that it uses.
  invisible(as.list(baseenv(), all.names = TRUE))
  # Two full garbage collections move all objects into the oldest generation. Small collections in a child then do not
  # write to shared pages, so the kernel does not copy these pages.
  gc(full = TRUE)
  gc(full = TRUE)
  freeze()
  gather_constants()
  gc(full = TRUE)
  # The variable `filler` keeps alive the objects with which tm_fill fills the free memory (../src/fill.c).
  filler <- .Call("tm_fill", pairlist(NULL), PACKAGE = "sandbox")
  gc(full = TRUE)
  gc(full = TRUE)
  learn_pages()
  served <- .C("tm_serve",
    socket_path, file.path(runtime_home, paste0("seccomp-", mode, ".bpf")), file.path(runtime_home, "supervisor"),
    if (mode == "namespaces") 0L else 1L,
    limits = double(2L), result_fd = integer(1L), PACKAGE = "sandbox"
  )
  if (served$result_fd < 0L) quit(save = "no", status = 1L)
  runner_main(served$result_fd, list(max_points = served$limits[1], max_text_bytes = served$limits[2]))
}

prepare_session <- function() {
  options(
    keep.source = TRUE, warn = 0L, scipen = 0L, stringsAsFactors = FALSE, menu.graphics = FALSE,
    # Discards plots; a preview sets another device (files.R).
    device = function(...) grDevices::pdf(NULL), browser = "false", pager = "cat", editor = "false", repos = c(CRAN = "@CRAN@"), error = NULL,
    dplyr.summarise.inform = FALSE
  )
  invisible()
}

#' Returns the toolbox functions, and `refuse_quit` under the names quit and q. R's own quit() would end a run before
#' its messages are reported. A script's own function of the same name wins (R-H4).
#' @noRd
toolbox <- function() c(mget(toolbox_names, envir = environment(toolbox)), quit = refuse_quit, q = refuse_quit)

#' Makes base R warn when it uses UTC in place of an unknown time zone.
#' @noRd
watch_zones <- function() {
  zones <- c(OlsonNames(), "UTC", "GMT")
  list2env(stats::setNames(as.list(rep(TRUE, length(zones))), zones), envir = known_zones)
  for (name in c("as.POSIXlt.POSIXct", "as.POSIXct.POSIXlt", "strptime")) {
    watched <- get(name, baseenv())
    body(watched) <- call("{", as.call(list(check_zone, quote(tz))), body(watched))
    replace_in_base(name, compiler::cmpfun(watched))
  }
}

replace_in_base <- function(name, value) {
  for (home in list(baseenv(), get(".__S3MethodsTable__.", baseenv()))) {
    if (!exists(name, home, inherits = FALSE)) next
    is_locked <- bindingIsLocked(name, home)
    if (is_locked) get("unlockBinding", baseenv())(name, home)
    assign(name, value, envir = home)
    if (is_locked) lockBinding(name, home)
  }
}

known_zones <- new.env(parent = emptyenv())
# Matches POSIX rules for time zones, such as CET-1CEST. check_zone accepts such a rule in place of the name of a zone.
zone_rule_pattern <- "^(:|<|[A-Za-z]{3,}[+-]?[0-9])"

# Warns once per run about each unknown time zone.
check_zone <- function(tz) {
  if (!is.character(tz) || length(tz) == 0L) return(invisible())
  zone <- tz[[1L]]
  if (is.na(zone) || !nzchar(zone) || !is.null(known_zones[[zone]]) || grepl(zone_rule_pattern, zone)) return(invisible())
  assign(zone, TRUE, envir = known_zones)
  warning("the time zone \"", zone, "\" does not exist: R uses UTC in its place", call. = FALSE)
}

# Runs in the runner. Never returns, so that neither exit handlers of R nor finalizers of the script run.
runner_main <- function(result_fd, limits) {
  dir.create(tempdir(), showWarnings = FALSE, mode = "0700")
  request <- read_request()
  .C("tm_close_request", PACKAGE = "sandbox")
  # The seed is a checksum of the five globals: a retry and a preview with the same globals draw the same numbers.
  set.seed(request$seed)
  if (request$files != "none") draw_into_files(request$files)
  report_line <- function(line) .C("tm_reach_line", line, PACKAGE = "sandbox")
  result <- run_script(request$script, request$globals, limits, report_line = report_line)
  if (request$files != "none") result$files <- collect_files()
  for (part in join_small(result_parts(result))) {
    sent <- .C("tm_write", as.integer(result_fd), part, as.double(length(part)), ok = 0L, PACKAGE = "sandbox")
    if (sent$ok != 1L) break
  }
  .C("tm_exit", 0L, PACKAGE = "sandbox")
}

# Freezes objects reachable from the namespaces, base, the search path and the options (../src/freeze.c).
freeze <- function() {
  roots <- list(
    globalenv(), baseenv(), as.list(baseenv(), all.names = TRUE), .Internal(getNamespaceRegistry()),
    lapply(search(), as.environment), options()
  )
  try(.Call("tm_freeze", roots, PACKAGE = "sandbox"), silent = TRUE)
  invisible()
}

# Makes a plain run in a child and gathers the constants that the run loads (../src/constants.c).
gather_constants <- function() {
  if (.C("tm_learn_constants", is_child = 0L, PACKAGE = "sandbox")$is_child == 1L) {
    tryCatch(make_plain_run(), finally = .C("tm_end_constants", PACKAGE = "sandbox"))
  }
  .Call("tm_gather_constants", NULL, PACKAGE = "sandbox")
  invisible()
}

# Makes a plain run (base R, 96 points) in a child and learns which pages the run writes. A waiting runner copies these
# pages ahead of time, because most runs write them too (../src/pages.c).
learn_pages <- function() {
  if (.C("tm_fork_trial", is_child = 0L, PACKAGE = "sandbox")$is_child != 1L) return(invisible())
  tryCatch(make_plain_run(), finally = .C("tm_end_trial", PACKAGE = "sandbox"))
}

# Performs the main steps of `runner_main`, without confinement and without a supervisor.
make_plain_run <- function() {
  path <- tempfile()
  writeBin(plain_request(), path)
  request <- read_request(path)
  set.seed(request$seed)
  result <- run_script(request$script, request$globals, list(max_points = 1000, max_text_bytes = 1000))
  sink <- file("/dev/null", "wb")
  for (part in result_parts(result)) writeBin(part, sink)
}

plain_request <- function(rows = 96L) {
  script <- "ts <- inputVariables$a$TimeSeries
    ts <- ts[ts$Values > 0, ]
    sums <- sapply(split(ts$Values, ts$Dates - ts$Dates %% 3600L), function(values) sum(values, na.rm = TRUE))
    result <- data.frame(Dates = as.integer(names(sums)), Values = round(ifelse(sums < 0, NA, sums), 3))
    list(TimeSeries = result)"
  scalar_text <- function(text) c(int_bytes(2L), text_bytes(text))
  variable <- c(
    int_bytes(c(4L, 1L)), scalar_text("plain"), int_bytes(c(4L, 1L)), int_bytes(c(4L, 15L)), scalar_text("Minute"),
    scalar_text("Integrated"), scalar_text("SUM"), scalar_text("UTC")
  )
  window <- int_bytes(c(4L, 0L, 4L, rows * 900L))
  no_texts <- c(counted_texts_bytes(""), int_bytes(integer(rows)))
  series <- c(int_bytes(c(rows, 4L, seq_len(rows) * 900L)), double_bytes(seq_len(rows)), no_texts, no_texts)
  c(
    int_bytes(0x32514d54L), text_bytes(script), int_bytes(c(4L, 0L)), variable, window,
    int_bytes(1L), text_bytes("a"), variable, window, series, int_bytes(c(0L, 0L, 0L, 1L))
  )
}

# Evaluates scripts on made-up data and encodes their results. The scripts call functions that real scripts often use.
rehearse <- function() {
  variable <- list(Id = 1L, Granularity = 1, GranularityTimeBase = "Hour", QuantityType = "Averaged", SourceTimeZoneId = "UTC")
  series <- data.frame(Dates = c(0L, 3600L), Values = c(1, 2), Version = "", Tags = "")
  globals <- list(
    triggerDate = 0L, targetVariable = variable, inputForms = list(), inputConstants = list(),
    inputVariables = list(a = list(Variable = variable, TimeSeries = series))
  )
  script <- "
    f <- function(x) { for (i in 1:3) x <- x + i; x }
    t <- inputVariables$a$TimeSeries
    t2 <- dplyr::summarise(dplyr::group_by(dplyr::mutate(t, h = Dates %/% 3600L), h), Values = sum(Values))
    t3 <- dplyr::left_join(dplyr::filter(tibble::as_tibble(t), Values > 0), t2, by = 'Values')
    d <- lubridate::floor_date(as.POSIXct(t$Dates, origin = '1970-01-01', tz = 'UTC'), 'hour')
    z <- zoo::na.approx(zoo::zoo(c(1, NA, 3), 1:3)); x <- xts::xts(1:2, d); k <- data.table::data.table(t)
    k <- k[, list(Values = mean(Values)), by = Dates]; m <- purrr::map_dbl(1:3, f)
    j <- jsonlite::toJSON(list(a = 1), auto_unbox = TRUE)
    warning('rehearsal'); message('rehearsal')
    list(TimeSeries = data.frame(Dates = d, Values = t$Values, Version = 'v', Tags = '{}'))"
  for (text in c(script, script, "f <- function() stop('no')\nf()", "1 +")) {
    result_parts(run_script(text, globals, list(max_points = 10, max_text_bytes = 1000), new.env(parent = globalenv())))
  }
}
