# Finds the highest hourly demand of every complete civil day. The date of a peak is the local midnight at which the day
# begins; its tag is the hour of the peak.
library(lubridate)

hours <- inputVariables$hourly$TimeSeries
zone <- targetVariable$SourceTimeZoneId
times <- as_datetime(hours$Dates, tz = zone)
midnights <- floor_date(times, "day")

peaks <- lapply(split(seq_along(times), midnights), function(rows) {
  midnight <- midnights[rows[1]]
  hours_of_day <- as.numeric(difftime(midnight + days(1), midnight, units = "hours"))
  # The peak of an incomplete day may lie in a missing hour.
  if (length(rows) < hours_of_day) return(NULL)
  peak <- rows[which.max(hours$Values[rows])]
  data.frame(
    Dates = as.integer(midnight),
    Values = hours$Values[peak],
    Version = hours$Version[peak],
    Tags = sprintf('{"hour":"%s"}', format(times[peak], "%H:%M")),
    stringsAsFactors = FALSE
  )
})
none <- data.frame(Dates = integer(), Values = numeric())
list(TimeSeries = if (all(vapply(peaks, is.null, NA))) none else do.call(rbind, peaks))
