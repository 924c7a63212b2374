#!/bin/sh
# deps.sh build|test...: install the missing packages that building or testing needs,
# on Debian 12. Does nothing, and needs no rights, if all are installed.
set -eu

wanted=
for purpose in "$@"; do
    case $purpose in
    build)
        wanted="$wanted gcc libc6-dev make pkg-config libzstd-dev zlib1g-dev libjansson-dev libcbor-dev libpcre2-dev nettle-dev libmicrohttpd-dev libdw-dev libiberty-dev"
        ;;
    test)
        wanted="$wanted check mandoc shellcheck zstd jq zsh binutils clang-14 clang-format-14 libclang-rt-14-dev"
        wanted="$wanted python3-jsonschema abigail-tools curl rustc"
        ;;
    *) echo "deps.sh: unknown purpose $purpose" >&2; exit 2 ;;
    esac
done

missing=
for package in $wanted; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || { echo "deps: please install:$missing" >&2; exit 1; }
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
        { echo "deps: not root, and no sudo; please install:$missing" >&2; exit 1; }
    as_root=sudo
fi
echo "deps: installing$missing"
$as_root apt-get -q update >/dev/null
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing >/dev/null
