test_that("GetInputAxis is ascending and has each date once (R-H4)", {
  expect_identical(GetInputAxis(list(a = input(c(3, 1), 1:2), b = input(c(2, 3), 1:2))), 1:3)
  expect_identical(GetInputAxis(list(a = input(integer(), numeric()))), integer())
})

test_that("GetRegularAxis follows the zone: 23 hours on the day the clock goes forward (R-H4)", {
  minutes <- GetRegularAxis(at("2024-01-01 00:07:00"), at("2024-01-01 01:00:00"), variable(15, "Minute"))
  expect_identical(minutes, at("2024-01-01 00:15:00") + 900L * 0:3)
  days <- GetRegularAxis(at("2024-03-30"), at("2024-04-01"), variable(1, "Day"))
  expect_identical(diff(days), c(86400L, 82800L))
  months <- GetRegularAxis(at("2024-01-15"), at("2024-04-02"), variable(1, "Month"))
  expect_identical(months, at(c("2024-02-01", "2024-03-01", "2024-04-01")))
  weeks <- GetRegularAxis(at("2024-01-01"), at("2024-01-15"), variable(1, "Week"))
  expect_identical(weeks, at(c("2024-01-01", "2024-01-08", "2024-01-15")))
  spring <- GetRegularAxis(at("2024-03-20"), at("2024-04-10"), variable(1, "Week"))
  expect_identical(spring, at(c("2024-03-25", "2024-04-01", "2024-04-08")))
  autumn <- GetRegularAxis(at("2024-10-14"), at("2024-11-12"), variable(2, "Week"))
  expect_identical(autumn, at(c("2024-10-14", "2024-10-28", "2024-11-11")))
  expect_identical(GetRegularAxis(10, 5, variable(1, "Hour")), integer())
})

test_that("SetDataOnCommonAxis interpolates averaged quantities and does not extrapolate (R-H4)", {
  axis <- c(-900L, 0L, 900L, 3600L, 4500L)
  linear <- SetDataOnCommonAxis(list(a = input(c(0, 3600), c(0, 4))), axis)
  expect_identical(linear$Dates, axis)
  expect_equal(linear$a, c(NA, 0, 1, 4, NA))
})

test_that("SetDataOnCommonAxis preserves totals of integrated quantities on finer and coarser axes (R-H4)", {
  energy <- list(a = input(c(0, 3600), c(8, 4), "Integrated"))
  quarters <- SetDataOnCommonAxis(energy, seq(0L, 6300L, by = 900L))$a
  expect_equal(quarters, c(2, 2, 2, 2, 1, 1, 1, 1))
  coarse <- list(a = input(seq(0, 6300, by = 900), quarters, "Integrated"))
  expect_equal(SetDataOnCommonAxis(coarse, c(0L, 3600L))$a, c(8, 4))
})

test_that("FilterNaOutput drops rows without a finite number, FilterDuplicateOutput drops rows already stored (R-H4)", {
  output <- data.frame(Dates = 1:4, Values = c(1, NA, Inf, 4))
  expect_identical(FilterNaOutput(output)$Dates, c(1L, 4L))
  stored <- data.frame(Dates = c(1L, 4L), Values = c(1, 3.5))
  expect_identical(FilterDuplicateOutput(FilterNaOutput(output), stored)$Dates, 4L)
  expect_identical(nrow(FilterDuplicateOutput(FilterNaOutput(output), stored, threshold = 1)), 0L)
})

test_that("the toolbox keeps dates after 2038 as doubles (R-H4)", {
  late <- input(1, 1)
  late$TimeSeries$Dates <- 4e9
  expect_identical(GetInputAxis(list(a = input(1, 1), b = late)), c(1, 4e9))
  expect_identical(GetRegularAxis(4e9, 4e9 + 7200, variable(1, "Hour", zone = "UTC")), 4e9 + c(3200, 6800))
  expect_identical(FilterDuplicateOutput(data.frame(Dates = 4e9, Values = 1), late$TimeSeries)$Dates, numeric())
})
