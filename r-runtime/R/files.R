# Files of a preview (R-H9): the plots and data files of the script, and the sample data.

file_kinds <- c("none", "svg", "png")
max_files <- 20L
max_file_bytes <- 48e6

#' Makes R draw each page of the plots into a file in the working directory. A script that opens a device itself draws
#' on that device instead.
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

#' Reads the plots and data files in the working directory, oldest first, including files that the script wrote itself.
#' Stops before the file that would exceed `max_files` files or `max_file_bytes` bytes in total. Skips empty files.
#' @return list of list(name, bytes).
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

#' Saves the objects that the author needs to run the script in R on another machine (R-H9).
#'
#' Always saves all globals, the toolbox and `.Random.seed`, because the text of a script does not show which of them
#' the script uses.
#' @param path path of the `.rdata` file.
#' @param envir environment that holds the globals and `.Random.seed`.
#' @noRd
save_sample <- function(path, envir = globalenv()) {
  home <- portable_toolbox()
  for (name in toolbox_names) assign(name, get(name, home), envir = envir)
  globals <- c("inputVariables", "inputForms", "inputConstants", "targetVariable", "triggerDate")
  save(list = c(globals, toolbox_names, ".Random.seed"), file = path, envir = envir)
}

# Copies the toolbox functions into a new environment. The copies must work on a machine without this package.
portable_toolbox <- function() {
  home <- new.env(parent = globalenv())
  for (name in c(toolbox_names, toolbox_parts)) {
    copy <- get(name, envir = environment(portable_toolbox))
    environment(copy) <- home
    assign(name, copy, envir = home)
  }
  home
}
