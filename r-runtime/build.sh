#!/bin/sh
# Builds the R runtime, installs it into a root file system, and removes the compiler.
#   sh r-runtime/build.sh ROOTDIR   from mmdebstrap's customize hook (runs inside by chroot)
#   sh r-runtime/build.sh /         in place, as a stage of an image
# Needs the packages of packages.txt and build-packages.txt in that file system. TIDEMARK_KEEP_BUILD_PACKAGES=1 keeps
# the compiler. Result: /opt/tidemark/r-runtime/{library/tidemark, sandbox.so, supervisor, seccomp-*.bpf} and the mount
# point /opt/tidemark/socket.
set -eu

root=${1:?usage: build.sh ROOTDIR}
here=$(cd "$(dirname "$0")" && pwd)
home=/opt/tidemark/r-runtime
stage=/opt/tidemark/build

in_root() {
  if [ "$root" = / ]; then "$@"; else chroot "$root" "$@"; fi
}

prefix=${root%/}
rm -rf "$prefix$stage" "$prefix$home"
mkdir -p "$prefix$stage/package" "$prefix$home/library" "$prefix/opt/tidemark/socket" "$prefix/tmp" "$prefix/proc" "$prefix/dev"
chmod 755 "${root}" "$prefix/opt" "$prefix/opt/tidemark"
cp -R "$here/src" "$prefix$stage/src"
# Leaves src/ out of the R package: the C code is compiled below, without R's headers and make, and dyn.load loads it.
cp -R "$here/DESCRIPTION" "$here/NAMESPACE" "$here/R" "$prefix$stage/package/"

in_root sh -euc '
  home=$1 stage=$2
  cd "$stage/src"
  flags="-O2 -Wall -Wextra -fstack-protector-strong -D_FORTIFY_SOURCE=2"
  gcc $flags -fPIC -shared -Wl,-z,relro,-z,now -o "$home/sandbox.so" io.c trial.c constants.c freeze.c fill.c pages.c \
    request.c networks.c confine.c spawn.c zygote.c
  # Links musl statically, because every run starts a supervisor, which must start fast. A dynamic linker takes longer
  # than all other work of the start; so does glibc, which queries the features of the processor.
  musl-gcc -O2 -Wall -Wextra -fstack-protector-strong -static -s -o "$home/supervisor" io.c watch.c supervise.c
  gcc $flags -o "$stage/seccomp_filter" seccomp_filter.c -lseccomp
  "$stage/seccomp_filter" namespaces > "$home/seccomp-namespaces.bpf"
  "$stage/seccomp_filter" rlimits-only > "$home/seccomp-rlimits-only.bpf"
  TMPDIR=$stage LC_ALL=C.UTF-8 R CMD INSTALL --no-docs --no-test-load --library="$home/library" "$stage/package"
  chmod -R a+rX "$home"
' build "$home" "$stage"
rm -rf "$prefix$stage"

if [ -z "${TIDEMARK_KEEP_BUILD_PACKAGES:-}" ]; then
  packages=$(grep -v '^ *#' "$here/build-packages.txt" | tr '\n' ' ')
  # r-base-core needs no compiler; --auto-remove also purges the dependencies of the build.
  DEBIAN_FRONTEND=noninteractive in_root apt-get purge --yes --quiet --auto-remove $packages
fi
