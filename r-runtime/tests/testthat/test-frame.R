read_ints <- function(con, n) readBin(con, "integer", n, size = 4L, endian = "little")

test_that("frame: the table of a coded column holds each text once (R-H7)", {
  con <- rawConnection(tidemark:::coded_bytes(c("a", "", "a")))
  on.exit(close(con))
  expect_identical(read_ints(con, 4L), c(3L, 2L, 1L, 0L))
  expect_identical(readChar(con, 1L), "a")
  expect_identical(read_ints(con, 3L), c(0L, 1L, 0L))
})

test_that("frame: texts that are equal after cleaning share one code (R-H7)", {
  con <- rawConnection(tidemark:::coded_bytes(c("a", NA, "", "a", "b")))
  on.exit(close(con))
  expect_identical(read_ints(con, 5L), c(5L, 3L, 1L, 0L, 1L))
  expect_identical(readChar(con, c(1L, 1L)), c("a", "b"))
  expect_identical(read_ints(con, 5L), c(0L, 1L, 1L, 0L, 2L))
})

test_that("frame: invalid UTF-8 is repaired and NA becomes the empty text (R-H7)", {
  bad <- "caf\xe9"
  Encoding(bad) <- "UTF-8"
  expect_true(all(validUTF8(tidemark:::clean_text(c(bad, NA)))))
  expect_identical(tidemark:::clean_text(NA), "")
})

read_bytes <- function(bytes) {
  path <- tempfile()
  on.exit(unlink(path))
  writeBin(bytes, path)
  tidemark:::read_request(path)
}

test_that("frame: a request is read into the five globals (R-H2)", {
  request <- read_bytes(tidemark:::plain_request(rows = 3L))
  expect_identical(names(request), c("script", "globals", "files", "seed"))
  expect_identical(request[c("files", "seed")], list(files = "none", seed = 1L))
  expect_identical(
    names(request$globals), c("triggerDate", "targetVariable", "inputVariables", "inputForms", "inputConstants")
  )
  expect_identical(request$globals$triggerDate, 0L)
  target <- request$globals$targetVariable
  expect_identical(target[c("Id", "Name", "SourceTimeZoneId")], list(Id = 1L, Name = "plain", SourceTimeZoneId = "UTC"))
  input <- request$globals$inputVariables$a
  expect_identical(names(input), c("Variable", "TimeSeries", "From", "To"))
  expect_identical(input$TimeSeries, data.frame(Dates = 900L * 1:3, Values = c(1, 2, 3), Version = "", Tags = ""))
  for (name in c("inputForms", "inputConstants")) {
    expect_identical(request$globals[[name]], stats::setNames(list(), character()))
  }
})

test_that("frame: reading a truncated or forged request is an error (R-H7)", {
  bytes <- tidemark:::plain_request()
  for (end in c(0L, 3L, 40L, length(bytes) - 1L)) expect_error(read_bytes(head(bytes, end)), "ended early")
  expect_error(read_bytes(rev(bytes)), "not a request frame")
  bytes[5:8] <- as.raw(255L)
  expect_error(read_bytes(bytes), "less than 0 bytes")
})
