run <- function(script, globals = list(), max_text_bytes = 10000) {
  tidemark:::run_script(script, globals, list(max_points = 1000, max_text_bytes = max_text_bytes), new.env())
}

test_that("run: names_read finds the names read from inputVariables, inputForms and inputConstants anywhere in a script (R-H9)", {
  script <- "f <- function() inputForms[['x y']]; if (TRUE) inputVariables$a$TimeSeries; inputConstants$`k`; other$b; inputForms[[1]]"
  found <- tidemark:::names_read(tidemark:::parse_script(script))
  expect_identical(found, c("inputForms$x y", "inputVariables$a", "inputConstants$k"))
})

test_that("run: a failed script gets a hint for each undeclared or unset name, a successful script only for undeclared names (R-H9)", {
  globals <- list(inputVariables = list(main = 1), inputForms = list(area = NULL, floors = 2), inputConstants = list(limit = NULL))
  read <- "inputVariables$mian; inputForms$area; inputForms$floors; inputConstants$k; inputConstants$limit"
  expect_identical(run(paste0(read, "; stop('no')"), globals)$notes$warnings, c(
    "inputVariables$mian is NULL: `mian` is not declared; this formula declares main",
    "inputForms$area is NULL: the form has no value at its path",
    "inputConstants$k is NULL: `k` is not declared; this formula declares limit",
    "inputConstants$limit is NULL: its declared value is null"
  ))
  fine <- "list(TimeSeries = list(Dates = 1L, Values = 1))"
  expect_identical(run(paste0(read, "; ", fine), globals)$notes$warnings, c(
    "inputVariables$mian is NULL: `mian` is not declared; this formula declares main",
    "inputConstants$k is NULL: `k` is not declared; this formula declares limit"
  ))
  expect_identical(run(paste0("inputVariables$main; inputForms$area; ", fine), globals)$notes$warnings, character())
})

test_that("run: a warning inside a function of the script names the function's call and its line (R-H8)", {
  script <- "f <- function(x) {\n  as.numeric(x)\n  warning('careful')\n}\nf('a')"
  expect_identical(run(script)$notes$warnings, c(
    "in f(\"a\"): NAs introduced by coercion (line 2)", "in f(\"a\"): careful (line 3)"
  ))
})

test_that("run: the last note counts the messages and warnings that were not kept (R-H7)", {
  notes <- run("for (i in 1:100) { warning('w'); message('m') }", max_text_bytes = 360)$notes
  expect_identical(tail(notes$warnings, 1), "\u2026 95 more warnings were not kept")
  expect_identical(tail(notes$messages, 1), "\u2026 95 more messages were not kept")
  one <- run("for (i in 1:11) warning('w')", max_text_bytes = 360)$notes$warnings
  expect_identical(tail(one, 1), "\u2026 1 more warning was not kept")
})

test_that("run: the error for an invalid result names the likely mistake and its remedy (R-H3)", {
  message_of <- function(script) run(script)$message
  expect_match(message_of("data.frame(Dates = 1L, Values = 1)"), "write list(TimeSeries = ...) around it", fixed = TRUE)
  expect_match(message_of("function() 1"), "a function; call it with ()", fixed = TRUE)
  expect_match(message_of("list(timeseries = 1)"), "names are case-sensitive: write TimeSeries")
  expect_match(message_of("list(TimeSeries = inputVariables$none)"), "with `TimeSeries`; TimeSeries must not be NULL$")
  expect_match(message_of("list(TimeSeries = data.frame())"), "got a value of class data.frame$")
  expect_match(message_of("list(TimeSeries = list(dates = 1L, values = 1))"), "write Dates and Values")
  expect_match(message_of("list(TimeSeries = cbind(Dates = 1, Values = 1))"), "as.data.frame(x)", fixed = TRUE)
  expect_match(message_of("library(nothing.of.the.kind)"), "GET /calculated/packages lists")
  expect_match(message_of("# only a comment"), "the script is empty")
})

test_that("run: the error for an invalid result has the line of the last expression; a returned error has no line (R-H8)", {
  expect_identical(run("x <- 1\ntry(stop('caught'), silent = TRUE)\nx")$line, 3L)
  expect_identical(run("x <- 1\nlist(Errors = 'no data')")$line, 0L)
})

test_that("run: a hint names a member in the wrong case and its line, unless the script creates that member (R-H8)", {
  fine <- "list(TimeSeries = list(Dates = 1L, Values = 1))"
  warnings_of <- function(script) run(paste(script, fine, sep = "\n"))$notes$warnings
  expect_identical(
    warnings_of("x <- data.frame(Values = 1)\nsum(x$value)"),
    "`$value` is NULL, because the member is named `Values`: write `$Values` (line 2)"
  )
  expect_identical(warnings_of("x <- list(value = 1)\nx$value"), character())
  expect_identical(warnings_of("x <- list()\nx$value <- 1\nx$value"), character())
  expect_identical(warnings_of("x <- data.frame(Values = 1)\n# x$value\nx$Value"), character())
})

test_that("run: unknown members of the result give a warning (R-H8)", {
  result <- run("list(TimeSeries = list(Dates = 1L, Values = 1), ErrorList = 'e')")
  expect_identical(
    result$notes$warnings, "the result has unknown members, which are ignored: `ErrorList`; the known members are TimeSeries and Errors"
  )
})

test_that("run: Errors without a series become the message and the errors of the run (R-H3)", {
  result <- run("list(Errors = c('a', 'b'))")
  expect_identical(result[c("message", "errors")], list(message = "a\nb", errors = c("a", "b")))
})

test_that("run: quit() fails the run and its line is reported; the notes are kept, and try() does not catch it (R-H7)", {
  local_quit <- "quit <- tidemark:::refuse_quit\nmessage('kept')\nf <- function() {\n  try(quit(status = 3))\n}\nf()\nstop('not reached')"
  result <- run(local_quit)
  expect_match(result$message, "the script called quit()", fixed = TRUE)
  expect_identical(result$line, 4L)
  expect_identical(result$notes$messages, "kept")
})

test_that("run: a syntax error names the bracket or string that is not closed (R-H9)", {
  failure <- function(script) {
    result <- run(script)
    list(result$line, result$message)
  }
  end <- function(bracket) paste0("unexpected end of the script: the `", bracket, "` of this line is not closed")
  expect_identical(failure("f <- function() {\n  x <- 1\n\ny <- 2"), list(1L, end("{")))
  expect_identical(failure("x <- \"{\" # {\ny <- c(1,\n"), list(2L, end("(")))
  expect_identical(failure("x <- r\"(})\"\nif (TRUE) {\n f(`a{`)\n"), list(2L, end("{")))
  mismatch <- failure("x <- 1\ny <- (\n}")
  expect_identical(mismatch[[1]], 3L)
  expect_match(mismatch[[2]], "The `(` of line 2 is not closed before line 3.", fixed = TRUE)
  expect_identical(failure("x <- 1\ny <- 'abc\n"), list(2L, "the string that starts on this line has no closing quote"))
})

test_that("run: an unknown time zone gives one warning, however often it is used (R-H8)", {
  script <- "x <- as.POSIXct('2026-01-01', tz = 'Europe/Brusels')
    y <- format(Sys.time(), tz = 'Europe/Brusels'); z <- as.POSIXct(0, tz = 'Europe/Brussels'); as.POSIXct(0, tz = 'CET-1CEST')
    list(TimeSeries = list(Dates = 1L, Values = 1))"
  warnings <- run(script)$notes$warnings
  expect_length(warnings, 1L)
  expect_match(warnings, "the time zone \"Europe/Brusels\" does not exist: R uses UTC in its place (line ", fixed = TRUE)
})

test_that("read: civil periods that a script groups by are found with their line (R-H9)", {
  read <- function(script) tidemark:::buckets_read(tidemark:::parse_script(script))
  expect_identical(read("x <- 1\ntapply(v, d %/% 86400L, sum)"), "Day 2")
  expect_identical(read("tapply(v, d - d %% (24 * 3600), sum)"), "Day 1")
  expect_identical(read("h <- lubridate::floor_date(d, 'month')\ndplyr::summarise(dplyr::group_by(t, h), v = sum(v))"), "Month 1")
  expect_identical(read("x[, .(v = sum(v)), by = .(cut(d, breaks = '1 week'))]"), "Week 1")
  expect_identical(read("xts::apply.monthly(x, sum)"), "Month 1")
  expect_identical(read("aggregate(v, list(format(d, '%Y-%m-%d')), sum)"), "Day 1")
  expect_identical(read("aggregate(v, list(format(d, '%Y-%m-%d %H')), sum)"), NULL)
  expect_identical(read("lubridate::floor_date(d, 'day')"), NULL)
  expect_identical(read("tapply(v, d %/% n, sum)"), NULL)
})

test_that("sample data: the file holds the five globals, the toolbox and the seed (R-H9)", {
  globals <- c("inputConstants", "inputForms", "inputVariables", "targetVariable", "triggerDate")
  envir <- list2env(sapply(c(globals, ".Random.seed"), function(name) list(), simplify = FALSE))
  tidemark:::save_sample(path <- tempfile(), envir)
  expect_setequal(load(path, new.env()), c(globals, tidemark:::toolbox_names, ".Random.seed"))
})
