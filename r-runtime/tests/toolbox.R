# Plain assertions about the toolbox (R-H4). Run by R CMD check, and in the sandbox by test/integration/sandbox-toolbox.test.ts,
# which gives them the five globals. The toolbox is on the search path there.
variable <- function(granularity, base, quantity = "Averaged", zone = "Europe/Brussels") {
  list(Granularity = granularity, GranularityTimeBase = base, QuantityType = quantity, SourceTimeZoneId = zone)
}
input <- function(dates, values, quantity = "Averaged") {
  list(
    Variable = variable(1, "Hour", quantity),
    TimeSeries = data.frame(Dates = as.integer(dates), Values = as.numeric(values), stringsAsFactors = FALSE)
  )
}
at <- function(text, zone = "Europe/Brussels") as.integer(as.POSIXct(text, tz = zone))

# Union axis.
stopifnot(identical(GetInputAxis(list(a = input(c(3, 1), 1:2), b = input(c(2, 3), 1:2))), 1:3))
stopifnot(identical(GetInputAxis(list(a = input(integer(), numeric()))), integer()))

# Regular axis: minutes, and civil days across the change of the clock (23 h on 2024-03-31).
minutes <- GetRegularAxis(at("2024-01-01 00:07:00"), at("2024-01-01 01:00:00"), variable(15, "Minute"))
stopifnot(identical(minutes, at("2024-01-01 00:15:00") + 900L * 0:3))
days <- GetRegularAxis(at("2024-03-30"), at("2024-04-01"), variable(1, "Day"))
stopifnot(identical(diff(days), c(86400L, 82800L)))
months <- GetRegularAxis(at("2024-01-15"), at("2024-04-02"), variable(1, "Month"))
stopifnot(identical(months, at(c("2024-02-01", "2024-03-01", "2024-04-01"))))
weeks <- GetRegularAxis(at("2024-01-01"), at("2024-01-15"), variable(1, "Week"))
stopifnot(identical(weeks, at(c("2024-01-01", "2024-01-08", "2024-01-15"))))
stopifnot(identical(GetRegularAxis(10, 5, variable(1, "Hour")), integer()))

# Linear for averaged quantities, nothing outside the span.
linear <- SetDataOnCommonAxis(list(a = input(c(0, 3600), c(0, 4))), c(-900L, 0L, 900L, 3600L, 4500L))
stopifnot(identical(linear$Dates, c(-900L, 0L, 900L, 3600L, 4500L)), all.equal(linear$a, c(NA, 0, 1, 4, NA)))

# Integrated quantities keep totals, finer and coarser.
energy <- list(a = input(c(0, 3600), c(8, 4), "Integrated"))
quarters <- SetDataOnCommonAxis(energy, seq(0L, 6300L, by = 900L))$a
stopifnot(all.equal(quarters, c(2, 2, 2, 2, 1, 1, 1, 1)))
coarse <- list(a = input(seq(0, 6300, by = 900), quarters, "Integrated"))
stopifnot(all.equal(SetDataOnCommonAxis(coarse, c(0L, 3600L))$a, c(8, 4)))

# Filters.
output <- data.frame(Dates = 1:4, Values = c(1, NA, Inf, 4))
stopifnot(identical(FilterNaOutput(output)$Dates, c(1L, 4L)))
stored <- data.frame(Dates = c(1L, 4L), Values = c(1, 3.5))
stopifnot(identical(FilterDuplicateOutput(FilterNaOutput(output), stored)$Dates, 4L))
stopifnot(nrow(FilterDuplicateOutput(FilterNaOutput(output), stored, threshold = 1)) == 0L)

list(TimeSeries = list(Dates = integer(), Values = numeric()))
