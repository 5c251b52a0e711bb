# Analyses a script without running it, and lists the installed packages (R-H9). The analysis finds:
# - names that the script reads, with hints about names that R reads as NULL, such as undeclared names;
# - misspelt names of members, such as columns;
# - civil periods, such as days, by which the script groups dates.

global_lists <- c("inputVariables", "inputForms", "inputConstants")

#' Finds the names that a script reads from `inputVariables`, `inputForms` and `inputConstants` with `$`, or with `[[`
#' and a literal text.
#' @param expression result of `parse_script`, or a part of it.
#' @return character vector such as "inputVariables$a", with repetitions.
#' @noRd
names_read <- function(expression) {
  if (is.call(expression)) return(c(name_read(expression), unlist(lapply(as.list(expression), names_read))))
  if (is.expression(expression) || is.pairlist(expression)) unlist(lapply(as.list(expression), names_read))
}

name_read <- function(call) {
  is_dollar <- identical(call[[1]], quote(`$`))
  if (length(call) != 3L || !(is_dollar || identical(call[[1]], quote(`[[`))) || !is.name(call[[2]])) return(NULL)
  list <- as.character(call[[2]])
  name <- call[[3]]
  if (list %in% global_lists && (is.character(name) || (is_dollar && is.name(name)))) paste0(list, "$", as.character(name))
}

#' Returns hints about names that are NULL when the script reads them: undeclared aliases and misspelt members. After a
#' failed run, also form values and constants that have no value.
#' @param status status of the run, such as "ok".
#' @return character vector of hints, or NULL.
#' @noRd
find_hints <- function(script, globals, status) {
  is_suspect <- status != "ok" || reads_undeclared(script, globals) || grepl(misspelt_pattern, script, perl = TRUE)
  if (!is_suspect) return(NULL)
  expressions <- tryCatch(parse_script(script), error = function(condition) NULL)
  c(find_unset_names(expressions, globals, status), find_misspelt_columns(script, expressions))
}

alias_pattern <- paste0("\\b(", paste(global_lists, collapse = "|"), ")\\s*(?:\\$\\s*`?|\\[\\[\\s*[\"'])([A-Za-z.][A-Za-z0-9._]*)")

# Searches the text of the script: this takes a tenth of the time of walking the syntax tree.
reads_undeclared <- function(script, globals) {
  found <- gregexpr(alias_pattern, script, perl = TRUE)[[1]]
  if (found[1] < 0L) return(FALSE)
  # Group 1 of the pattern is the name of the list, group 2 the alias.
  start <- attr(found, "capture.start")
  read <- substring(script, start, start + attr(found, "capture.length") - 1L)
  count <- length(found)
  for (i in seq_len(count)) if (is.na(pmatch(read[count + i], names(globals[[read[i]]])))) return(TRUE)
  FALSE
}

find_unset_names <- function(expressions, globals, status) {
  read <- unique(names_read(expressions))
  unlist(lapply(strsplit(as.character(read), "$", fixed = TRUE), function(parts) {
    declared <- globals[[parts[1]]]
    position <- pmatch(parts[2], names(declared))
    read <- paste(parts, collapse = "$")
    if (is.na(position)) {
      list <- if (length(declared) == 0L) "none" else paste(names(declared), collapse = ", ")
      paste0(read, " is NULL: `", parts[2], "` is not declared; this formula declares ", list)
    } else if (status != "ok" && is.null(declared[[position]])) {
      paste0(read, " is NULL: ", if (parts[1] == "inputForms") "the form has no value at its path" else "its declared value is null")
    }
  }))
}

# Maps misspelt member names to the right names. `$` completes a prefix, so `$Value` finds Values; but `$` is
# case-sensitive, so `$value` is NULL.
misspelt_members <- c(
  value = "Values", values = "Values", date = "Dates", dates = "Dates", version = "Version", tags = "Tags",
  timeseries = "TimeSeries", timeSeries = "TimeSeries", Timeseries = "TimeSeries", variable = "Variable"
)
misspelt_pattern <- paste0("\\$\\s*`?(", paste(names(misspelt_members), collapse = "|"), ")\\b(?!\\s*(\\(|<-|=[^=]))")

# Returns a hint for each misspelt member that the script reads. Skips a name that the script quotes or assigns, because
# the script may have created a member with this name.
find_misspelt_columns <- function(script, expressions) {
  used <- intersect(names(misspelt_members), all.names(expressions, unique = TRUE))
  unlist(lapply(used, function(name) {
    creates <- paste0("[\"'`]", name, "[\"'`]|\\b", name, "\\b\\s*(<-|=[^=])|->\\s*", name, "\\b")
    at <- regexpr(paste0("\\$\\s*", name, "\\b"), script, perl = TRUE)
    if (at < 0L || grepl(creates, script, perl = TRUE)) return(NULL)
    member <- misspelt_members[[name]]
    paste0("`$", name, "` is NULL, because the member is named `", member, "`: write `$", member, "` (line ", line_of(script, at), ")")
  }))
}

# --- civil periods ---------------------------------------------------------------------------------------------------

aggregators <- c(
  "summarise", "summarize", "aggregate", "tapply", "rowsum", "by", "split", "group_by", "ave", "reframe", "keyby", "period.apply"
)
applied_periods <- c(
  apply.daily = "Day", apply.weekly = "Week", apply.monthly = "Month", apply.quarterly = "Year", apply.yearly = "Year",
  to.daily = "Day", to.weekly = "Week", to.monthly = "Month", to.quarterly = "Year", to.yearly = "Year"
)
rounders <- c("floor_date", "ceiling_date", "round_date", "cut", "trunc", "round", "endpoints", "cut.POSIXt", "cut.Date", "IDateTime")
unit_names <- c(hour = "Hour", day = "Day", week = "Week", month = "Month", quarter = "Year", year = "Year", DSTday = "Day")
period_seconds <- c(Week = 604800, Day = 86400, Hour = 3600)

#' Finds the civil periods by which a script groups dates, such as the day in floor_date(x, "day"). Ignores rounding of
#' dates in a script that aggregates nothing.
#' @param expressions result of `parse_script`.
#' @return character vector such as "Day 3": the top-level expression on line 3 uses the period Day.
#' @noRd
buckets_read <- function(expressions) {
  called <- all.names(expressions, unique = TRUE)
  is_aggregated <- any(aggregators %in% called) || "by" %in% names_of_arguments(expressions)
  references <- attr(expressions, "srcref")
  unlist(lapply(seq_along(expressions), function(i) {
    periods <- unique(periods_of(expressions[[i]], is_aggregated))
    if (length(periods) > 0L) paste(periods, references[[i]][1])
  }))
}

names_of_arguments <- function(expression) {
  if (is.call(expression) || is.expression(expression)) {
    c(names(expression), unlist(lapply(as.list(expression), names_of_arguments)))
  }
}

periods_of <- function(expression, is_aggregated) {
  if (is.call(expression)) {
    return(c(period_of(expression, is_aggregated), unlist(lapply(as.list(expression), periods_of, is_aggregated))))
  }
  if (is.pairlist(expression)) unlist(lapply(as.list(expression), periods_of, is_aggregated))
}

period_of <- function(call, is_aggregated) {
  name <- call[[1]]
  # In `dplyr::summarise(x)`, the function is not a name but a call of `::`.
  if (is.call(name) && length(name) == 3L) name <- name[[3]]
  if (!is.name(name)) return(NULL)
  name <- as.character(name)
  if (name %in% names(applied_periods)) return(applied_periods[[name]])
  if (!is_aggregated) return(NULL)
  if (name %in% c("%/%", "%%") && length(call) == 3L) return(period_of_seconds(call[[3]]))
  texts <- unlist(Filter(is.character, as.list(call)[-1L]))
  if (name %in% rounders) return(unit_of(texts))
  if (name %in% c("format", "strftime", "format.POSIXct")) return(period_of_format(texts))
  if (name %in% c("as.Date", "as.IDate", "as_date", "yday", "wday")) return("Day")
  if (name %in% c("as.yearmon", "month", "yearmon")) return("Month")
  if (name %in% c("isoweek", "week")) return("Week")
  if (name %in% c("as.yearqtr", "quarter", "year")) "Year"
}

unit_of <- function(texts) {
  unit <- sub("s$", "", sub("^[0-9]+ +", "", texts))
  unit <- unit[unit %in% names(unit_names)]
  if (length(unit) > 0L) unit_names[[unit[1]]]
}

period_of_format <- function(texts) {
  format <- texts[grepl("%", texts, fixed = TRUE)]
  if (length(format) == 0L || grepl("%[HIMSTRcXpsk]", format[1])) return(NULL)
  if (grepl("%[dFDjeax]", format[1])) "Day"
  else if (grepl("%[UVWGu]", format[1])) "Week"
  else if (grepl("%[mbBh]", format[1])) "Month"
  else if (grepl("%[Yy]", format[1])) "Year"
}

# Returns the longest of Week, Day and Hour of which `divisor` is a whole multiple, or NULL. `divisor` is an expression
# for seconds, such as 24 * 3600.
period_of_seconds <- function(divisor) {
  if (!all(all.names(divisor) %in% c("*", "("))) return(NULL)
  seconds <- tryCatch(eval(divisor, baseenv()), error = function(condition) NULL)
  if (!is.numeric(seconds) || length(seconds) != 1L || is.na(seconds) || seconds <= 0) return(NULL)
  periods <- names(period_seconds)[seconds %% period_seconds == 0]
  if (length(periods) > 0L) periods[1]
}

# --- packages --------------------------------------------------------------------------------------------------------

#' Lists the packages that a script can load, except the package tidemark.
#' @return character vector such as "dplyr 1.1.4", ascending by name.
#' @noRd
installed_packages <- function() {
  names <- setdiff(unique(list.files(.libPaths())), c("tidemark", "translations"))
  versions <- lapply(names, function(name) tryCatch(utils::packageVersion(name), error = function(condition) NULL))
  known <- lengths(versions) > 0L
  sort(paste(names[known], vapply(versions[known], as.character, "")), method = "radix")
}
