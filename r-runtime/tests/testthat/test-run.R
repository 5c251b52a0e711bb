run <- function(script, globals = list(), max_text_bytes = 10000) {
  tidemark:::run_script(script, globals, list(max_points = 1000, max_text_bytes = max_text_bytes), new.env())
}

test_that("names read of the three lists are found wherever they stand", {
  script <- "f <- function() inputForms[['x y']]; if (TRUE) inputVariables$a$TimeSeries; inputConstants$`k`; other$b; inputForms[[1]]"
  found <- tidemark:::names_read(tidemark:::parse_script(script))
  expect_identical(found, c("inputForms$x y", "inputVariables$a", "inputConstants$k"))
})

test_that("a script that fails is told which names it read in vain, one that works is not", {
  globals <- list(inputVariables = list(main = 1), inputForms = list(area = NULL, floors = 2), inputConstants = list())
  read <- "inputVariables$mian; inputForms$area; inputForms$floors; inputConstants$k"
  expect_identical(run(paste0(read, "; stop('no')"), globals)$notes$warnings, c(
    "inputVariables$mian is NULL, because it is not declared; declared is main",
    "inputForms$area is NULL, because the form has no value there",
    "inputConstants$k is NULL, because it is not declared; declared is nothing"
  ))
  fine <- "list(TimeSeries = list(Dates = 1L, Values = 1))"
  expect_identical(run(paste0(read, "; ", fine), globals)$notes$warnings, character())
})

test_that("a warning tells its line, also inside a function of the script", {
  script <- "f <- function(x) {\n  as.numeric(x)\n  warning('careful')\n}\nf('a')"
  expect_identical(run(script)$notes$warnings, c(
    "in f(\"a\"): NAs introduced by coercion (line 2)", "in f(\"a\"): careful (line 3)"
  ))
})

test_that("how many notes were left out is told, by kind", {
  notes <- run("for (i in 1:100) { warning('w'); message('m') }", max_text_bytes = 360)$notes
  expect_identical(tail(notes$warnings, 1), "\u2026 95 more warnings were not kept")
  expect_identical(tail(notes$messages, 1), "\u2026 95 more messages were not kept")
})

test_that("of a value that is no result the message says what was meant", {
  told <- function(script) run(script)$message
  expect_match(told("data.frame(Dates = 1L, Values = 1)"), "write list(TimeSeries = ...) around it", fixed = TRUE)
  expect_match(told("function() 1"), "was it to be called?", fixed = TRUE)
  expect_match(told("list(timeseries = 1)"), "it must be written TimeSeries")
  expect_match(told("list(TimeSeries = inputVariables$none)"), "with `TimeSeries`; its TimeSeries is NULL$")
  expect_match(told("list(TimeSeries = data.frame())"), "got a value of class data.frame$")
  expect_match(told("list(TimeSeries = list(dates = 1L, values = 1))"), "with capitals")
  expect_match(told("list(TimeSeries = cbind(Dates = 1, Values = 1))"), "as.data.frame(x)", fixed = TRUE)
  expect_match(told("list(TimeSeries = zoo::zoo(1, 1))"), "zoo::index(x)", fixed = TRUE)
  expect_match(told("library(nothing.of.the.kind)"), "there are dplyr, lubridate")
  expect_match(told("# only a comment"), "the script is empty")
})

test_that("what was returned is blamed on the last expression, what a script reports itself on no line", {
  expect_identical(run("x <- 1\ntry(stop('caught'), silent = TRUE)\nx")$line, 3L)
  expect_identical(run("x <- 1\nlist(Errors = 'no data')")$line, 0L)
})

test_that("a sample holds the five globals, and what else its script needs", {
  globals <- c("inputConstants", "inputForms", "inputVariables", "targetVariable", "triggerDate")
  envir <- list2env(sapply(globals, function(name) list(), simplify = FALSE))
  saved <- function(script) {
    tidemark:::save_sample(script, path <- tempfile(), envir)
    loaded <- new.env()
    sort(load(path, loaded))
  }
  expect_identical(saved("1"), globals)
  expect_setequal(saved("FilterNaOutput(1)"), c("FilterNaOutput", globals))
  # Whoever looks for a syntax error needs the data too.
  expect_identical(saved("x <- (1"), globals)
})
