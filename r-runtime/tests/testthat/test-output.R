series <- function(...) tidemark:::as_output(list(TimeSeries = list(...)), 10)$series

test_that("output: rows are sorted by date, stable, NA last (R-H3)", {
  sorted <- series(Dates = c(2, NA, 1, 2), Values = c(1, 2, 3, 4), Version = c("a", "b", "c", "d"))
  expect_identical(sorted$Dates, c(1, 2, 2, NaN))
  expect_identical(sorted$Values, c(3, 1, 4, 2))
  expect_identical(sorted$Version, c("c", "a", "d", "b"))
})

test_that("output: columns of unequal length stay unsorted; the calculator refuses them (§7)", {
  expect_identical(series(Dates = c(2, 1), Values = c(1, 2), Version = "a")$Version, "a")
})

test_that("output: POSIXct and Date become seconds, factors become labels (R-H3)", {
  expect_identical(series(Dates = as.POSIXct(60, tz = "UTC"), Values = 1L)$Dates, 60)
  expect_identical(series(Dates = as.Date("1970-01-02"), Values = TRUE)$Dates, 86400)
  expect_identical(series(Dates = 1, Values = factor("2.5"), Version = factor("v"))$Values, 2.5)
  expect_error(series(Dates = "today", Values = 1), "must be integer UNIX seconds or POSIXct")
})

test_that("output: more rows than allowed are an error (R-H7)", {
  condition <- tryCatch(series(Dates = 1:11, Values = 1:11), error = identity)
  expect_s3_class(condition, "tidemark_too_many_points")
})
