run <- function(script, globals = list(), max_text_bytes = 10000) {
  tidemark:::run_script(script, globals, list(max_points = 1000, max_text_bytes = max_text_bytes), new.env())
}

test_that("run: names_read finds names of the three lists anywhere in a script (R-H9)", {
  script <- "f <- function() inputForms[['x y']]; if (TRUE) inputVariables$a$TimeSeries; inputConstants$`k`; other$b; inputForms[[1]]"
  found <- tidemark:::names_read(tidemark:::parse_script(script))
  expect_identical(found, c("inputForms$x y", "inputVariables$a", "inputConstants$k"))
})

test_that("run: a failed script gets a hint for each undeclared or unset name; a successful script gets none (R-H9)", {
  globals <- list(inputVariables = list(main = 1), inputForms = list(area = NULL, floors = 2), inputConstants = list())
  read <- "inputVariables$mian; inputForms$area; inputForms$floors; inputConstants$k"
  expect_identical(run(paste0(read, "; stop('no')"), globals)$notes$warnings, c(
    "inputVariables$mian is NULL: `mian` is not declared; this formula declares main",
    "inputForms$area is NULL: the form has no value at its path",
    "inputConstants$k is NULL: `k` is not declared; this formula declares none"
  ))
  fine <- "list(TimeSeries = list(Dates = 1L, Values = 1))"
  expect_identical(run(paste0(read, "; ", fine), globals)$notes$warnings, character())
})

test_that("run: a warning names its line, also inside a function of the script (R-H8)", {
  script <- "f <- function(x) {\n  as.numeric(x)\n  warning('careful')\n}\nf('a')"
  expect_identical(run(script)$notes$warnings, c(
    "in f(\"a\"): NAs introduced by coercion (line 2)", "in f(\"a\"): careful (line 3)"
  ))
})

test_that("run: the last note counts the messages and warnings that were not kept (R-H7)", {
  notes <- run("for (i in 1:100) { warning('w'); message('m') }", max_text_bytes = 360)$notes
  expect_identical(tail(notes$warnings, 1), "\u2026 95 more warnings were not kept")
  expect_identical(tail(notes$messages, 1), "\u2026 95 more messages were not kept")
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
  expect_match(message_of("list(TimeSeries = zoo::zoo(1, 1))"), "zoo::index(x)", fixed = TRUE)
  expect_match(message_of("library(nothing.of.the.kind)"), "available packages: dplyr, lubridate")
  expect_match(message_of("# only a comment"), "the script is empty")
})

test_that("run: an invalid result has the line of the last expression; returned Errors have none (R-H8)", {
  expect_identical(run("x <- 1\ntry(stop('caught'), silent = TRUE)\nx")$line, 3L)
  expect_identical(run("x <- 1\nlist(Errors = 'no data')")$line, 0L)
})

test_that("sample data: hold the five globals and the toolbox functions that the script uses (R-H9)", {
  globals <- c("inputConstants", "inputForms", "inputVariables", "targetVariable", "triggerDate")
  envir <- list2env(sapply(globals, function(name) list(), simplify = FALSE))
  saved <- function(script) {
    tidemark:::save_sample(script, path <- tempfile(), envir)
    loaded <- new.env()
    sort(load(path, loaded))
  }
  expect_identical(saved("1"), globals)
  expect_setequal(saved("FilterNaOutput(1)"), c("FilterNaOutput", globals))
  # A script with a syntax error gets sample data too.
  expect_identical(saved("x <- (1"), globals)
})
