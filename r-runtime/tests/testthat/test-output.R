series <- function(...) tidemark:::as_output(list(TimeSeries = list(...)), 10)$series

test_that("output: rows are sorted by date with a stable sort, NA last (R-H3)", {
  sorted <- series(Dates = c(2, NA, 1, 2), Values = c(1, 2, 3, 4), Version = c("a", "b", "c", "d"))
  expect_identical(sorted$Dates, c(1, 2, 2, NaN))
  expect_identical(sorted$Values, c(3, 1, 4, 2))
  expect_identical(sorted$Version, c("c", "a", "d", "b"))
})

test_that("output: columns of unequal length stay unsorted, because the calculator refuses them (§7)", {
  unsorted <- series(Dates = c(2, 1), Values = c(1, 2), Version = "a")
  expect_identical(unsorted[c("Dates", "Version")], list(Dates = c(2, 1), Version = "a"))
})

test_that("output: POSIXct and Date become seconds, factors become labels (R-H3)", {
  expect_identical(series(Dates = as.POSIXct(60, tz = "UTC"), Values = 1L)$Dates, 60)
  expect_identical(series(Dates = as.Date("1970-01-02"), Values = TRUE)$Dates, 86400)
  labelled <- series(Dates = 1, Values = factor("2.5"), Version = factor("v"))
  expect_identical(labelled[c("Values", "Version")], list(Values = 2.5, Version = "v"))
  expect_error(series(Dates = "today", Values = 1), "must be ISO 8601 texts")
})

test_that("output: more rows than allowed are an error (R-H7)", {
  condition <- tryCatch(series(Dates = 1:11, Values = 1:11), error = identity)
  expect_s3_class(condition, "tidemark_too_many_points")
})

test_that("output: ISO 8601 texts are dates; without a zone they are in UTC (R-H3)", {
  dates <- c("2026-03-01T00:15:00Z", "2026-03-01 01:15", "2026-03-01T01:15:00+01:00", "2026-03-01", NA, "2026-02-28T19:15-0500")
  expected <- 1772323200 + c(900, 4500, 900, 0, NaN, 900)
  expect_identical(series(Dates = dates, Values = 1:6)$Dates, sort(expected, na.last = TRUE))
  expect_identical(series(Dates = factor("2026-03-01"), Values = 1)$Dates, 1772323200)
  expect_error(series(Dates = c("2026-03-01", "2026-13-01"), Values = 1:2), "got \"2026-13-01\" in row 2")
  expect_error(series(Dates = "1772323200", Values = 1), "write as.numeric(...) around UNIX seconds", fixed = TRUE)
  expect_error(series(Dates = "2026-03-01T00:00:00.5Z", Values = 1), "must be whole seconds")
})

test_that("output: dates after 2038 keep their value (R-H2)", {
  expect_identical(series(Dates = c(4e9, 5e9), Values = 1:2)$Dates, c(4e9, 5e9))
})

test_that("output: the index of a zoo, xts or ts result becomes the dates, also without list() around the result (R-H3)", {
  columns <- function(value) tidemark:::as_output(value, 10)$series[c("Dates", "Values")]
  expected <- list(Dates = c(60, 120), Values = c(1, 2))
  times <- as.POSIXct(c(60, 120), tz = "UTC")
  expect_identical(columns(list(TimeSeries = zoo::zoo(1:2, times))), expected)
  expect_identical(columns(xts::xts(cbind(other = 3:4, Values = 1:2), times)), expected)
  expect_identical(columns(ts(c(1, 2), start = 1767225600, deltat = 900))$Dates, c(1767225600, 1767226500))
  expect_identical(columns(ts(c(1, 2), start = c(2026, 1), frequency = 12))$Dates, c(1767225600, 1769904000))
  expect_identical(columns(zoo::zoo(1:2, zoo::as.yearmon(c(2026, 2026 + 1 / 12))))$Dates, c(1767225600, 1769904000))
  expect_error(columns(ts(1:2)), "index of the ts must be years from 1700 to 2199 or UNIX seconds, got 1;")
  expect_error(columns(ts(1:60, start = 2150)), "got 2200;")
  expect_error(columns(zoo::zoo(cbind(a = 1:2, b = 1:2), times)), "must have one column, or one named Values")
})
