# Mean demand of every hour that has both half-hours in inputVariables$half_hourly. An hour gets the Version of its
# second half-hour.
half <- inputVariables$half_hourly$TimeSeries
hour <- half$Dates - half$Dates %% 3600L
means <- aggregate(half$Values, list(Dates = hour), mean)
counts <- aggregate(half$Values, list(Dates = hour), length)
versions <- aggregate(half$Version, list(Dates = hour), function(version) version[length(version)])
# An hour that the edge of the window cuts in two would get a wrong mean.
full <- counts$x == 2L
list(TimeSeries = data.frame(
  Dates = means$Dates[full],
  Values = round(means$x[full], 1),
  Version = versions$x[full],
  stringsAsFactors = FALSE
))
