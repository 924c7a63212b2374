#!/usr/bin/env bash
# Other machines: builds gotrace for s390x (big-endian) and arm64 with Debian's cross compilers, runs it under qemu, and
# compares with the program of this machine: the golden tests of tests/cli, and every verb on traces of each
# version, byte by byte. Both machines have an unsigned char, and s390x has the other byte order.
#
#   BUILD            the program of this machine (default build)
#   MACHINES         only these (default: s390x arm64)
#   GOTRACE_INSTALL  1: install the compilers and qemu (Debian 12, as root), and fetch the libraries
#   GOTRACE_NO_SKIP  1 (or CI=true): fail if they are missing
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/checks.bash
. tests/checks.bash
# shellcheck source=tests/portability/outputs.bash
. tests/portability/outputs.bash
native=$(realpath "${BUILD:-build}")/gotrace
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR

# Golden tests that are left out:
# - what they check is not gotrace's code, or qemu does not emulate it: other programs, memory, seccomp, Landlock and the
#   limits of a process, which apply to qemu;
# - they cost more than 8 s of processor time under qemu: other tests, and `outputs`, run the same verbs.
left_out='atomic closed_pipe full_disk interrupted limits sandbox scale script_size signal sparse terminal
    anonymize anonymize_secret diagnose event_count find foreign gen gen_cover gen_defect gzip html meaning narrow origin
    parquet parts profile recovery reduce repeated_generation roundtrip select stat stretches to_version why
    why_sums why_total'

# On s390x: the test forges the head of a crash file of a little-endian machine; libzstd detects the same damage at
# another place (the program zstd of s390x has the same message).
left_out_s390x='crash_file zstd'

# One or two traces of each version, and two with damaged bytes.
samples=(testdata/traces/{gccgo-user,go1.19-chan,go1.19-http,go1.21-user,go1.22-gens,go1.23-allocfree,go1.25-flight-2,go1.26-user,go1.27-timer}.trace)
damaged=(testdata/traces/{go1.19-user,go1.26-gens}.trace)

golden_tests() { # MACHINE
    local file name list=$left_out
    [ "$1" != s390x ] || list+=" $left_out_s390x"
    for file in tests/cli/*.sh; do
        name=$(basename "$file" .sh)
        case $'\n'run$'\n'$(tr -s ' \n' '\n' <<<"$list")$'\n' in
        *$'\n'"$name"$'\n'*) ;;
        *) echo "$name" ;;
        esac
    done
}

# The program of another machine, as a program of this one.
wrapper() { # MACHINE TRIPLE QEMU
    mkdir -p "build/portability/$1" &&
        printf '#!/bin/sh\nexec %s -L /usr/%s %s "$@"\n' "$3" "$2" "$PWD/build/$1/gotrace" >"build/portability/$1/gotrace" &&
        chmod +x "build/portability/$1/gotrace"
}

cross_build() { # MACHINE TRIPLE
    local libraries=$PWD/build/portability/$1/root
    local paths=$libraries/usr/lib/$2:$libraries/lib/$2
    env -u MAKEFLAGS -u MAKELEVEL make -s -j"$(nproc)" BUILD="build/$1" CC="${CCACHE:-} $2-gcc" AR="$2-ar" LIBDW=libdw LIBIBERTY=-liberty CFLAGS=-O2 \
        CPPFLAGS="-isystem $libraries/usr/include -isystem $libraries/usr/include/$2" \
        LDFLAGS="-L${paths/:/ -L} -Wl,--disable-new-dtags,-rpath-link,$libraries/lib/$2,-rpath,$paths" \
        all 2>&1 | tee "$work/build"
    [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$work/build" ]
}

# golden MACHINE: run the golden tests, each of which counts as one.
golden() {
    local totals
    # shellcheck disable=SC2046
    EMULATED=1 BUILD=build/portability/$1 tests/cli/run.sh $(golden_tests "$1") >"$work/golden" 2>&1
    totals=$(tail -n 1 "$work/golden")
    sed -e '$d' -e "s/^\(FAIL\|SKIP\) /\1 $1: /" "$work/golden"
    if [[ $totals =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
    else
        check "$1: golden tests: $totals" false
    fi
}

equal() { diff "$work/native.$1" "$work/$2.$1"; }

test_machine() { # MACHINE TRIPLE QEMU
    local sample libraries=build/portability/$1/root
    # Fetched again if the list of packages has changed.
    if [ "${GOTRACE_INSTALL:-}" = 1 ] && [ ! "$libraries" -nt tests/portability/sysroot.sh ]; then
        check "$1: fetch the libraries" tests/portability/sysroot.sh "$1" "$libraries"
    fi
    [ -d "$libraries" ] || { missing "$1" "its libraries: set GOTRACE_INSTALL=1"; return; }
    rm -f "build/$1/gotrace"
    check "$1: build without a message" cross_build "$1" "$2"
    [ -x "build/$1/gotrace" ] || return
    wrapper "$1" "$2" "$3"
    golden "$1"
    outputs_of "$1" "$PWD/build/portability/$1/gotrace" "$work"/traces/*
    for sample in "$work"/traces/*; do
        check "$1: every verb on ${sample##*/}" equal "${sample##*/}" "$1"
    done
}

make_samples() {
    mkdir "$work/traces" && cp "${samples[@]}" "$work/traces" &&
        "$native" mutate --raw --seed 7 -o "$work/traces" "${damaged[@]}" && rm "$work"/traces/*.json &&
        outputs_of native "$native" "$work"/traces/*
}

# missing NAME WHAT: a failure in CI.
missing() {
    if [ "${CI:-}" = true ] || [ "${GOTRACE_NO_SKIP:-}" = 1 ]; then check "$1 needs $2" false; else skip "$1" "needs $2"; fi
}

packages=(gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)
has_tools() {
    local tool
    for tool in s390x-linux-gnu-gcc qemu-s390x-static aarch64-linux-gnu-gcc qemu-aarch64-static; do
        command -v $tool >/dev/null || return
    done
}
install_tools() {
    apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${packages[@]}"
}
[ "${GOTRACE_INSTALL:-}" != 1 ] || has_tools || check 'install compilers and qemu' install_tools
if has_tools; then
    check 'make samples' make_samples
    for machine in ${MACHINES:-s390x arm64}; do
        case $machine in
        s390x) test_machine s390x s390x-linux-gnu qemu-s390x-static ;;
        arm64) test_machine arm64 aarch64-linux-gnu qemu-aarch64-static ;;
        *) check "$machine is s390x or arm64" false ;;
        esac
    done
else
    missing portability "${packages[*]}: install them, or set GOTRACE_INSTALL=1"
fi
end_checks
