# The toolbox: functions that every script can call, and internal functions. A script's own function takes precedence
# over a function of the same name in the toolbox (R-H4). The toolbox uses no packages besides R's own.

toolbox_names <- c("GetInputAxis", "GetRegularAxis", "SetDataOnCommonAxis", "FilterNaOutput", "FilterDuplicateOutput")
# Internal functions that the functions in `toolbox_names` call. A file of sample data contains copies of the functions
# in both lists (files.R).
toolbox_parts <- c("as_seconds", "regular_step", "step_start", "interpolate", "distribute")

#' Union of the dates of all inputs
#'
#' @param inputs list shaped like `inputVariables`.
#' @return UNIX seconds, ascending, without duplicates; empty when no input has points. They are integers, or doubles
#'   when a date is before 1901-12-13T20:45:53Z or after 2038-01-19T03:14:07Z.
#' @export
GetInputAxis <- function(inputs = inputVariables) {
  dates <- unlist(lapply(inputs, function(input) input$TimeSeries$Dates), use.names = FALSE)
  as_seconds(sort(unique(as.numeric(dates))))
}

# Returns the dates as integers. When a date is before 1901-12-13T20:45:53Z or after 2038-01-19T03:14:07Z, it is beyond
# R's integers, and all dates are returned as doubles.
as_seconds <- function(dates) {
  if (is.integer(dates) || any(abs(dates) > .Machine$integer.max, na.rm = TRUE)) dates else as.integer(dates)
}

#' Regular axis of a variable
#'
#' Steps of seconds, minutes and hours are counted from local midnight of the day of `from`. Days, weeks (from Monday),
#' months and years are those of the calendar in the variable's time zone, so they stay correct across clock changes.
#'
#' @param from,to UNIX seconds, both inclusive; default: first and last date of the inputs.
#' @param target variable whose `Granularity`, `GranularityTimeBase` and `SourceTimeZoneId` give the step.
#' @return UNIX seconds, integers or doubles as `GetInputAxis` returns them. The result is empty when `from` is after
#'   `to`. It is also empty when `from` or `to` is not given and no input has points.
#' @export
GetRegularAxis <- function(from = NULL, to = NULL, target = targetVariable) {
  if (is.null(from) || is.null(to)) {
    axis <- GetInputAxis()
    if (length(axis) == 0L) return(integer())
    if (is.null(from)) from <- axis[1]
    if (is.null(to)) to <- axis[length(axis)]
  }
  from <- as.numeric(from)
  to <- as.numeric(to)
  if (to < from) return(integer())
  step <- regular_step(target)
  start <- step_start(from, step$unit, step$zone)
  axis <- if (is.na(step$seconds)) {
    # `last` is two days after `to`, so that the sequence surely contains every date up to `to`. The last line of the
    # function drops the later dates.
    last <- as.POSIXct(to + 86400 * 2, origin = "1970-01-01", tz = step$zone)
    # In seq(), a "DSTday" is a day in local time. A "day" is always 24 hours, even across a clock change.
    by <- switch(
      step$unit,
      day = paste(step$count, "DSTday"),
      week = paste(7L * step$count, "DSTday"),
      paste(step$count, step$unit)
    )
    as.numeric(seq(start, last, by = by))
  } else {
    seq(as.numeric(start), to, by = step$seconds)
  }
  as_seconds(axis[axis >= from & axis <= to])
}

regular_step <- function(target) {
  count <- max(1L, as.integer(if (is.numeric(target$Granularity)) target$Granularity else 1L))
  base <- target$GranularityTimeBase
  if (is.null(base) && is.character(target$Granularity)) base <- target$Granularity
  if (is.null(base)) stop("GetRegularAxis needs a target variable with a GranularityTimeBase, got NULL")
  unit <- tolower(base)
  seconds <- c(second = 1, minute = 60, hour = 3600)[unit]
  if (is.na(seconds) && !unit %in% c("day", "week", "month", "year")) stop("GetRegularAxis needs a GranularityTimeBase of Second, Minute, Hour, Day, Week, Month or Year, got ", base)
  zone <- target$SourceTimeZoneId
  list(count = count, unit = unit, seconds = unname(seconds) * count, zone = if (is.null(zone)) "UTC" else zone)
}

step_start <- function(from, unit, zone) {
  local <- as.POSIXlt(from, origin = "1970-01-01", tz = zone)
  local$hour <- local$min <- 0L
  local$sec <- 0
  if (unit == "week") local$mday <- local$mday - (local$wday + 6L) %% 7L
  if (unit %in% c("month", "year")) local$mday <- 1L
  if (unit == "year") local$mon <- 0L
  local$isdst <- -1L
  as.POSIXct(local)
}

#' Put inputs on one axis
#'
#' Instantaneous, averaged, minimum, maximum and cumulative quantities are interpolated linearly. An integrated quantity
#' keeps its rate: each value belongs to the interval from its own date to the next date with a value and is distributed
#' over the steps of the axis that overlap this interval, so totals over whole intervals are preserved. The last
#' interval is taken to be as long as the interval before it. Nothing is extrapolated: at dates of the axis outside the
#' dates or intervals of an input, the result is NA. The result is also NA for a step that ends after the last interval.
#'
#' @param inputs list shaped like `inputVariables`.
#' @param axis UNIX seconds, ascending.
#' @return data.frame with `Dates` (the axis) and one numeric column for each alias.
#' @export
SetDataOnCommonAxis <- function(inputs = inputVariables, axis = GetInputAxis(inputs)) {
  columns <- lapply(inputs, function(input) {
    align <- if (identical(input$Variable$QuantityType, "Integrated")) distribute else interpolate
    align(input$TimeSeries$Dates, input$TimeSeries$Values, axis)
  })
  data.frame(Dates = as_seconds(axis), columns, check.names = FALSE, stringsAsFactors = FALSE)
}

interpolate <- function(dates, values, axis) {
  known <- !is.na(values)
  if (!any(known)) return(rep(NA_real_, length(axis)))
  if (sum(known) == 1L) return(ifelse(axis == dates[known], values[known], NA_real_))
  stats::approx(dates[known], values[known], xout = axis, rule = 1)$y
}

# Interpolates the running total of the values linearly; the value of a step is the increase of this total from the
# start to the end of the step. The last interval of the input is taken to be as long as the interval before it. The
# last step of the axis is taken to be as long as the step before it. When the axis has only one date, its only step is
# taken to be as long as the last interval of the input.
distribute <- function(dates, values, axis) {
  known <- !is.na(values)
  dates <- as.numeric(dates[known])
  values <- values[known]
  n <- length(dates)
  if (n == 0L || length(axis) == 0L) return(rep(NA_real_, length(axis)))
  if (n == 1L) return(ifelse(axis == dates, values, NA_real_))
  edges <- c(dates, dates[n] + (dates[n] - dates[n - 1L]))
  total <- c(0, cumsum(values))
  m <- length(axis)
  axis_edges <- c(axis, if (m > 1L) 2 * axis[m] - axis[m - 1L] else axis[m] + (edges[n + 1L] - edges[n]))
  diff(stats::approx(edges, total, xout = as.numeric(axis_edges), rule = 1)$y)
}

#' Drop rows without a value
#'
#' @param output data.frame with `Dates` and `Values`.
#' @return the rows whose date is present and whose value is finite.
#' @export
FilterNaOutput <- function(output) {
  keep <- !is.na(output$Dates) & is.finite(as.numeric(output$Values))
  output[keep, , drop = FALSE]
}

#' Drop rows that are already stored
#'
#' @param output data.frame with `Dates` and `Values`.
#' @param stored stored points of the calculated variable: `inputVariables$<alias>$TimeSeries`, where the input
#'   `<alias>` is this variable itself.
#' @param threshold greatest absolute difference that counts as equal.
#' @return the rows without a value, the rows whose date has no stored value, and the rows whose value differs by more
#'   than `threshold` from the stored value.
#' @export
FilterDuplicateOutput <- function(output, stored, threshold = 1e-09) {
  before <- stored$Values[match(as.numeric(output$Dates), as.numeric(stored$Dates))]
  keep <- is.na(before) | is.na(output$Values) | abs(output$Values - before) > threshold
  output[keep, , drop = FALSE]
}

utils::globalVariables(c("inputVariables", "targetVariable"))
