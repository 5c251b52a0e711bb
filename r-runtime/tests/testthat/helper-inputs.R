# Variables, inputs and dates in the form that a script receives, but without the columns Version and Tags.
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
