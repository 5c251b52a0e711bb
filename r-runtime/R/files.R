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
