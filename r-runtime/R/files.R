# Files a script makes while its author looks on (R-H9): plots, and the sample data.

file_kinds <- c("none", "svg", "png")
max_files <- 20L
max_file_bytes <- 48e6

#' Lets what is drawn without opening a device become files, one a page, in the working directory.
#' @param kind "svg" or "png".
#' @noRd
draw_into_files <- function(kind) {
  open_device <- if (kind == "svg") {
    function(...) grDevices::svg("plot-%03d.svg", width = 8, height = 5, onefile = FALSE)
  } else {
    function(...) grDevices::png("plot-%03d.png", width = 960, height = 600, res = 120, type = "cairo")
  }
  options(device = open_device)
}

#' The pictures and data files in the working directory, the script's own included, oldest first.
#' @return list of list(name, bytes); at most `max_files` of together `max_file_bytes`.
#' @noRd
collect_files <- function() {
  tryCatch(grDevices::graphics.off(), error = function(condition) NULL)
  names <- list.files(pattern = "\\.(svg|png|rdata)$", ignore.case = TRUE)
  info <- file.info(names, extra_cols = FALSE)
  kept <- !is.na(info$size) & info$size > 0 & !info$isdir
  names <- names[kept][order(info$mtime[kept], names[kept])]
  names <- names[cumsum(file.size(names)) <= max_file_bytes]
  lapply(utils::head(names, max_files), function(name) list(name = name, bytes = readBin(name, "raw", file.size(name))))
}

#' Leaves behind what a script needs in an author's own R, to be loaded there (R-H9).
#'
#' That is the five globals, and only where the script uses them the functions of the toolbox and the state of the random
#' numbers, so that it draws as it does here.
#' @noRd
save_sample <- function(script, path, envir = globalenv()) {
  # A script with a syntax error is what its author wants the data for.
  used <- tryCatch(all.names(parse_script(script)), tidemark_syntax_error = function(condition) character())
  called <- intersect(used, toolbox_names)
  home <- portable_toolbox()
  for (name in called) assign(name, get(name, home), envir = envir)
  drawing <- c("sample", "sample.int", grep("^r", intersect(used, getNamespaceExports("stats")), value = TRUE))
  seed <- if (any(used %in% drawing) && exists(".Random.seed", globalenv(), inherits = FALSE)) ".Random.seed"
  globals <- c("inputVariables", "inputForms", "inputConstants", "targetVariable", "triggerDate")
  save(list = c(globals, called, seed), file = path, envir = envir)
}

# The toolbox without its package, which is not there where the file is loaded.
portable_toolbox <- function() {
  home <- new.env(parent = globalenv())
  for (name in c(toolbox_names, toolbox_parts)) {
    copy <- get(name, envir = environment(portable_toolbox))
    environment(copy) <- home
    assign(name, copy, envir = home)
  }
  home
}
