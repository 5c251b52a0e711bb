#!/bin/sh
# Adds the input of the demo to the R root file system $1; mmdebstrap calls this script. The input is half-hourly
# electricity demand of England and Wales from 5 June to 27 August 2000, in megawatts, with dates in local time: the data
# set `taylor` of the R package forecast (Taylor 2003). Only the data file of the Debian package is extracted; the package
# is not installed.
set -eu

root=$1
work=$(mktemp -d "$root/tmp/taylor-XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 777 "$work"

(cd "$work" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download r-cran-forecast)
dpkg-deb --extract "$work"/r-cran-forecast_*.deb "$work"
mkdir -p "$root/opt/tidemark/demo"
chroot "$root" Rscript --vanilla -e '
  args <- commandArgs(trailingOnly = TRUE)
  lazyLoad(file.path("/tmp", args[1], "usr/lib/R/site-library/forecast/data/Rdata"))
  demand <- as.numeric(taylor)
  starts <- as.POSIXct("2000-06-05 00:00:00", tz = "UTC") + 1800 * (seq_along(demand) - 1)
  out <- file("/opt/tidemark/demo/taylor.csv", "w")
  writeLines(c(
    "# Half-hourly electricity demand of England and Wales in MW from 5 June 2000: data set taylor of the R package forecast, after Taylor (2003)",
    "date,demand_mw",
    paste(format(starts, "%Y-%m-%dT%H:%M:%S"), demand, sep = ",")
  ), out)
  close(out)
' "$(basename "$work")"
