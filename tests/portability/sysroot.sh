#!/bin/sh
# sysroot.sh ARCHITECTURE FOLDER: unpack Debian 12's packages of the libraries that gotrace needs, for another
# architecture (s390x, arm64), below FOLDER. Nothing is installed, and the machine's own lists of packages are
# left alone: the mirror is the one that the machine uses.
set -eu
architecture=$1 folder=$(realpath -m "$2")
packages='libzstd-dev libzstd1 zlib1g-dev zlib1g libjansson-dev libjansson4 libcbor-dev libcbor0.8
    libpcre2-dev libpcre2-8-0 nettle-dev libnettle8 libdw-dev libiberty-dev libdw1 libelf-dev libelf1 liblzma5 libbz2-1.0
    libmicrohttpd-dev'
sources=/etc/apt/sources.list.d/debian.sources
mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' "$sources" 2>/dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) bookworm .*/\2/p' /etc/apt/sources.list | head -n 1)
[ -n "$mirror" ] || { echo "sysroot: no mirror of Debian 12 in the lists of apt" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/packages"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$work/sources.list"
# run ARGUMENT...: apt-get for that architecture, with lists of its own.
run() {
    apt-get -q -oAPT::Architecture="$architecture" -oAPT::Architectures="$architecture" \
        -oDir::Etc::SourceList="$work/sources.list" -oDir::Etc::SourceParts=/dev/null \
        -oDir::State::Lists="$work/lists" -oDir::State::Status=/dev/null -oAPT::Sandbox::User=root "$@" \
        >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
run update
cd "$work/packages"
# shellcheck disable=SC2086
run download $packages
for package in *.deb; do
    dpkg -x "$package" "$work/root"
done
# Complete or not at all.
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$work/root" "$folder"
