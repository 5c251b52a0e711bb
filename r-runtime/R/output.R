# Converts the value of a script's last expression into columns (§2, R-H3), sorted by date. The calculator then checks
# the tags and that all columns have the same length, and drops rows with NA (src/calculation/run/output-rules.ts).

output_error <- function(..., class = "tidemark_output_error") {
  structure(class = c(class, "error", "condition"), list(message = paste0(...), call = NULL))
}

describe_value <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.function(value)) return("a function; call it with ()")
  if (is.list(value) && length(names(value)) > 0L) {
    return(paste0("a ", class(value)[1], " with ", paste0("`", names(value), "`", collapse = ", ")))
  }
  paste0("a value of class ", class(value)[1])
}

# Returns advice if the value of a script shows a frequent mistake, otherwise NULL. The caller appends the advice to the
# error message.
hint_value <- function(value) {
  if (is.data.frame(value) && all(c("Dates", "Values") %in% names(value))) "; write list(TimeSeries = ...) around it"
  else if (is.list(value) && "TimeSeries" %in% names(value)) "; TimeSeries must not be NULL"
  else if (is.list(value) && "timeseries" %in% tolower(names(value))) "; names are case-sensitive: write TimeSeries"
}

hint_series <- function(series) {
  if (is.matrix(series)) "; return as.data.frame(x)"
  else if (all(c("dates", "values") %in% tolower(names(series)))) "; names are case-sensitive: write Dates and Values"
}

expected_text <- "the last expression must be list(TimeSeries = data.frame(Dates, Values, ...), Errors = ...)"

#' Splits a script's value into series and errors (R-H3).
#' @param value the value of the script's last expression: a list, or a zoo, xts or ts object.
#' @param max_points maximum number of rows.
#' @return list(series = list(Dates, Values, Version, Tags), errors, warnings); Version and Tags are NULL when absent.
#' @noRd
as_output <- function(value, max_points) {
  if (is_indexed(value)) value <- list(TimeSeries = value)
  if (!is.list(value)) stop(output_error(expected_text, ", got ", describe_value(value)))
  errors <- as_errors(value[["Errors"]])
  series <- value[["TimeSeries"]]
  if (is.null(series)) {
    if (length(errors) > 0L) stop(reported_error(errors))
    stop(output_error(expected_text, ", got ", describe_value(value), hint_value(value)))
  }
  list(series = as_series(series, max_points), errors = errors, warnings = describe_unknown(names(value)))
}

reported_error <- function(errors) {
  condition <- output_error(paste(errors, collapse = "\n"), class = c("tidemark_reported_error", "tidemark_output_error"))
  condition$errors <- errors
  condition
}

describe_unknown <- function(members) {
  unknown <- members[!members %in% c("TimeSeries", "Errors", "")]
  if (length(unknown) == 0L) return(character())
  paste0(
    "the result has unknown members, which are ignored: ", paste0("`", unique(unknown), "`", collapse = ", "),
    "; the known members are TimeSeries and Errors"
  )
}

as_errors <- function(errors) {
  texts <- as.character(unlist(errors, use.names = FALSE))
  texts[!is.na(texts) & nzchar(texts)]
}

as_series <- function(series, max_points) {
  if (is_indexed(series)) series <- index_columns(series)
  if (!is.list(series)) {
    stop(output_error("TimeSeries must be a data.frame or a list of columns, got ", describe_value(series), hint_series(series)))
  }
  if (!all(c("Dates", "Values") %in% names(series))) {
    stop(output_error("TimeSeries must have the columns Dates and Values, got ", describe_value(series), hint_series(series)))
  }
  # Makes a plain list, because `[[` on a data frame takes ten times as long.
  columns <- unclass(series)
  points <- max(length(columns[["Dates"]]), length(columns[["Values"]]))
  if (points > max_points) {
    stop(output_error(
      "the script returned ", format(points, big.mark = ","), " points, more than ", format(max_points, big.mark = ","),
      class = "tidemark_too_many_points"
    ))
  }
  in_date_order(list(
    Dates = as_unix_seconds(columns[["Dates"]]), Values = as_numeric_values(columns[["Values"]]),
    Version = as_labels(columns[["Version"]]), Tags = as_labels(columns[["Tags"]])
  ))
}

# Sorts the rows by date unless they are already sorted. The sort is stable and puts NA last. Leaves columns of unequal
# length unchanged: the calculator refuses them (§7).
in_date_order <- function(columns) {
  if (!is.unsorted(columns$Dates, na.rm = TRUE)) return(columns)
  rows <- length(columns$Dates)
  is_whole <- all(lengths(columns)[c("Dates", "Values")] == rows) &&
    all(vapply(columns[c("Version", "Tags")], function(column) is.null(column) || length(column) == rows, NA))
  if (!is_whole) return(columns)
  sorted <- order(columns$Dates, method = "radix")
  lapply(columns, function(column) column[sorted])
}

as_unix_seconds <- function(dates) {
  if (is.integer(dates) && !is.object(dates) && !anyNA(dates)) return(as.double(dates))
  if (inherits(dates, "POSIXlt")) dates <- as.POSIXct(dates)
  if (is.factor(dates)) dates <- as.character(dates)
  if (is.character(dates)) dates <- parse_instants(dates)
  if (inherits(dates, "Date")) seconds <- as.double(unclass(dates)) * 86400
  else if (inherits(dates, "POSIXct") || (is.numeric(dates) && !is.factor(dates))) seconds <- as.double(unclass(dates))
  else if (is.logical(dates) && all(is.na(dates))) seconds <- as.double(dates)
  else stop(output_error("TimeSeries$Dates must be UNIX seconds, POSIXct, Date or ISO 8601 texts, got ", describe_value(dates)))
  seconds[!is.finite(seconds)] <- NaN
  whole <- round(seconds)
  # Rounding errors of POSIXct arithmetic are far below 0.1 ms; a larger fraction means that the script returned a
  # fractional second.
  fractional <- which(abs(seconds - whole) > 1e-4)
  if (length(fractional) > 0L) {
    odd <- fractional[1]
    stop(output_error("TimeSeries$Dates must be whole seconds, got ", format(seconds[odd], digits = 15), " in row ", odd))
  }
  whole
}

instant_pattern <- paste0(
  "^\\s*([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:[.,][0-9]+)?)?)?",
  "\\s*(?:Z|([+-])([0-9]{2}):?([0-9]{2})?)?\\s*$"
)

# Parses ISO 8601 texts. Takes a text without a zone as UTC, just as R takes a Date object as UTC.
parse_instants <- function(texts) {
  seconds <- rep(NaN, length(texts))
  given <- which(!is.na(texts))
  part <- regmatches(texts[given], regexec(instant_pattern, texts[given], perl = TRUE))
  bad <- which(lengths(part) == 0L)
  if (length(bad) > 0L) stop(date_text_error(texts, given[bad[1]]))
  if (length(part) == 0L) return(seconds)
  part <- do.call(rbind, part)
  time <- ifelse(nzchar(part[, 3]), part[, 3], "00:00")
  fraction <- ifelse(nzchar(part[, 4]), sub(",", ".", part[, 4], fixed = TRUE), ":00")
  instants <- as.POSIXct(strptime(paste0(part[, 2], " ", time, fraction), "%Y-%m-%d %H:%M:%OS", tz = "UTC"))
  if (anyNA(instants)) stop(date_text_error(texts, given[which(is.na(instants))[1]]))
  minutes <- ifelse(nzchar(part[, 7]), part[, 7], "0")
  offset <- ifelse(nzchar(part[, 6]), as.numeric(part[, 6]) * 3600 + as.numeric(minutes) * 60, 0)
  seconds[given] <- as.numeric(instants) - ifelse(part[, 5] == "-", -offset, offset)
  seconds
}

date_text_error <- function(texts, row) {
  remedy <- if (grepl("^ *-?[0-9]+ *$", texts[row])) "; write as.numeric(...) around UNIX seconds"
  output_error(
    "TimeSeries$Dates must be ISO 8601 texts, such as 2026-03-01T00:15:00Z, got \"", substr(texts[row], 1L, 50L),
    "\" in row ", row, remedy
  )
}

is_indexed <- function(value) inherits(value, c("zoo", "ts"))

# Converts a zoo, xts or ts object into columns; the index of the object becomes the dates. The index of a ts counts
# years or UNIX seconds. An index value that stands for a month, a quarter or another period of whole months becomes the
# first day of the period.
index_columns <- function(series) {
  values <- as.matrix(if (inherits(series, "zoo")) zoo::coredata(series) else unclass(series))
  column <- if (ncol(values) == 1L) 1L else match("Values", colnames(values))
  if (is.na(column)) {
    stop(output_error(
      "TimeSeries must have one column, or one named Values, got a value of class ", class(series)[1], " with ", ncol(values),
      " columns"
    ))
  }
  list(Dates = if (inherits(series, "zoo")) zoo_dates(zoo::index(series)) else ts_dates(series), Values = as.vector(values[, column]))
}

zoo_dates <- function(index) {
  if (inherits(index, c("yearmon", "yearqtr"))) zoo::as.Date(index) else index
}

ts_dates <- function(series) {
  time <- as.numeric(stats::time(series))
  if (all(time > 1e5)) return(round(time))
  odd <- time[time < 1700 | time >= 2200]
  if (length(odd) > 0L) {
    stop(output_error("the index of the ts must be years from 1700 to 2199 or UNIX seconds, got ", format(odd[1]), "; set the start of ts()"))
  }
  year <- floor(time + 1e-6)
  if (12 %% stats::frequency(series) == 0) {
    return(as.Date(sprintf("%d-%02d-01", year, as.integer(round((time - year) * 12)) + 1L)))
  }
  begin <- as.numeric(ISOdatetime(year, 1, 1, 0, 0, 0, tz = "UTC"))
  end <- as.numeric(ISOdatetime(year + 1, 1, 1, 0, 0, 0, tz = "UTC"))
  round(begin + (time - year) * (end - begin))
}

as_numeric_values <- function(values) {
  if (is.factor(values)) values <- suppressWarnings(as.numeric(as.character(values)))
  if (is.list(values) || !(is.numeric(values) || is.logical(values))) {
    stop(output_error("TimeSeries$Values must be numeric, got ", describe_value(values)))
  }
  as.double(unclass(values))
}

# @return the column as a character vector; NULL for NULL. A factor becomes its labels. In a list column (tidyr), a
# single text without a name is kept, an empty cell becomes the empty text, and any other cell becomes JSON.
as_labels <- function(column) {
  if (is.null(column)) return(NULL)
  if (!is.list(column)) return(as.character(column))
  vapply(column, function(cell) {
    if (is.character(cell) && length(cell) == 1L && is.null(names(cell))) cell
    else if (length(cell) == 0L) ""
    else as.character(jsonlite::toJSON(as.list(cell), auto_unbox = TRUE))
  }, "")
}
