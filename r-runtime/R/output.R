# Converts the value of a script's last expression into columns (§2, R-H3). Converts types only: the calculator checks lengths,
# NA and tags (src/calculation/run/output-rules.ts).

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

# Remedies for the most frequent mistakes.
hint_value <- function(value) {
  if (is.data.frame(value) && all(c("Dates", "Values") %in% names(value))) "; write list(TimeSeries = ...) around it"
  else if (is.list(value) && "TimeSeries" %in% names(value)) "; TimeSeries must not be NULL"
  else if (is.list(value) && "timeseries" %in% tolower(names(value))) "; names are case-sensitive: write TimeSeries"
}

hint_series <- function(series) {
  if (inherits(series, "zoo")) "; return data.frame(Dates = as.integer(zoo::index(x)), Values = as.numeric(x))"
  else if (is.matrix(series)) "; return as.data.frame(x)"
  else if (all(c("dates", "values") %in% tolower(names(series)))) "; names are case-sensitive: write Dates and Values"
}

expected_text <- "the last expression must be list(TimeSeries = data.frame(Dates, Values, ...), Errors = ...)"

#' Splits a script's value into series and errors (R-H3).
#' @param value value of the script's last expression.
#' @param max_points most rows accepted.
#' @return list(series = list(Dates, Values, Version, Tags), errors = character()); Version and Tags NULL when absent.
#' @noRd
as_output <- function(value, max_points) {
  if (!is.list(value)) stop(output_error(expected_text, ", got ", describe_value(value)))
  errors <- as_errors(value[["Errors"]])
  series <- value[["TimeSeries"]]
  if (is.null(series)) {
    if (length(errors) > 0L) {
      stop(output_error(paste(errors, collapse = "\n"), class = c("tidemark_reported_error", "tidemark_output_error")))
    }
    stop(output_error(expected_text, ", got ", describe_value(value), hint_value(value)))
  }
  list(series = as_series(series, max_points), errors = errors)
}

as_errors <- function(errors) {
  texts <- as.character(unlist(errors, use.names = FALSE))
  texts[!is.na(texts) & nzchar(texts)]
}

as_series <- function(series, max_points) {
  if (!is.list(series)) {
    stop(output_error("TimeSeries must be a data.frame or a list of columns, got ", describe_value(series), hint_series(series)))
  }
  missing <- setdiff(c("Dates", "Values"), names(series))
  if (length(missing) > 0L) {
    stop(output_error("TimeSeries must have the columns Dates and Values, got ", describe_value(series), hint_series(series)))
  }
  points <- max(length(series[["Dates"]]), length(series[["Values"]]))
  if (points > max_points) {
    stop(output_error(
      "the script returned ", format(points, big.mark = ","), " points, more than ", format(max_points, big.mark = ","),
      class = "tidemark_too_many_points"
    ))
  }
  in_date_order(list(
    Dates = as_unix_seconds(series[["Dates"]]), Values = as_numeric_values(series[["Values"]]),
    Version = as_labels(series[["Version"]]), Tags = as_labels(series[["Tags"]])
  ))
}

# Sorts rows by date: stable, NA last. Columns of unequal length are unchanged: the calculator refuses them (§7).
in_date_order <- function(columns) {
  rows <- length(columns$Dates)
  is_whole <- all(lengths(columns)[c("Dates", "Values")] == rows) &&
    all(vapply(columns[c("Version", "Tags")], function(column) is.null(column) || length(column) == rows, NA))
  if (!is_whole || !is.unsorted(columns$Dates, na.rm = TRUE)) return(columns)
  sorted <- order(columns$Dates, method = "radix")
  lapply(columns, function(column) column[sorted])
}

as_unix_seconds <- function(dates) {
  if (is.integer(dates) && !is.object(dates) && !anyNA(dates)) return(as.double(dates))
  if (inherits(dates, "POSIXlt")) dates <- as.POSIXct(dates)
  if (inherits(dates, "Date")) seconds <- as.double(unclass(dates)) * 86400
  else if (inherits(dates, "POSIXct") || (is.numeric(dates) && !is.factor(dates))) seconds <- as.double(unclass(dates))
  else if (is.logical(dates) && all(is.na(dates))) seconds <- as.double(dates)
  else stop(output_error("TimeSeries$Dates must be integer UNIX seconds or POSIXct, got ", describe_value(dates)))
  seconds[!is.finite(seconds)] <- NaN
  whole <- round(seconds)
  # Rounding errors of POSIXct arithmetic are far below 0.1 ms; a larger fraction is a date between two seconds.
  fractional <- which(abs(seconds - whole) > 1e-4)
  if (length(fractional) > 0L) {
    stop(output_error("TimeSeries$Dates must be whole seconds, got ", format(seconds[fractional[1]], digits = 15), " in row ", fractional[1]))
  }
  whole
}

as_numeric_values <- function(values) {
  if (is.factor(values)) values <- suppressWarnings(as.numeric(as.character(values)))
  if (is.list(values) || !(is.numeric(values) || is.logical(values))) {
    stop(output_error("TimeSeries$Values must be numeric, got ", describe_value(values)))
  }
  as.double(unclass(values))
}

# @return character vector: the labels of a factor; for a list column (tidyr) each cell's text, or its JSON text.
as_labels <- function(column) {
  if (is.null(column)) return(NULL)
  if (!is.list(column)) return(as.character(column))
  vapply(column, function(cell) {
    if (is.character(cell) && length(cell) == 1L && is.null(names(cell))) cell
    else if (length(cell) == 0L) ""
    else as.character(jsonlite::toJSON(as.list(cell), auto_unbox = TRUE))
  }, "")
}
