#!/usr/bin/env bash
# abi.sh: print the ABI that gotrace.h, gotrace_record.h and gotrace_symbols.h promise, as abidw describes it.
# abi.sh check: compare it with the recorded one, tests/tree/gotrace.abi. `make abi` writes that.
#
# Only the headers are compiled, with a body for each function and a use of each type: this takes a
# second, and the record does not depend on the inside of the library. gotrace_experimental.h is not
# part of it. LIB is the folder of the headers.
set -u
cd "$(dirname "$0")/.." || exit 1
LIB=${LIB:-lib}
recorded=tests/tree/gotrace.abi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

stubs() {
    printf '#include "%s"\n' gotrace_record.h gotrace_symbols.h
    awk '/^GOTRACE_API/ { open = 1 } open { print } /;/ { open = 0 }' "$LIB/gotrace_base.h" "$LIB/gotrace.h" "$LIB/gotrace_record.h" \
        "$LIB/gotrace_symbols.h" |
        sed 's/;$/ { __builtin_trap(); }/'
    cat "$LIB/gotrace_base.h" "$LIB/gotrace.h" "$LIB/gotrace_events.h" "$LIB/gotrace_record.h" |
        sed -nE 's/^\} (gotrace_[a-z0-9_]+);$/\1/p; s/^(enum gotrace_[a-z0-9_]+) \{$/\1/p' |
        sed -E 's/.*\b(gotrace_.*)/GOTRACE_API void type_\1(const & *type) { (void)type; }/'
}

describe() {
    local major
    major=$(sed -n 's/^#define GOTRACE_VERSION_MAJOR //p' "$LIB/gotrace_base.h")
    stubs >"$work/abi.c" &&
        gcc -std=c11 -g -fPIC -shared -I"$LIB" -Wl,-soname,"libgotrace.so.$major" \
            -fdebug-prefix-map="$work=." -o "$work/libgotrace.so" "$work/abi.c" &&
        abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-architecture \
            --type-id-style hash "$work/libgotrace.so"
}

# The lines of abidiff's report that say more than that a struct of ours grew at its end. It reports
# offsets and sizes in bits.
incompatible() {
    awk '
        /^(Leaf changes|Changed leaf types|Removed\/Changed\/Added) / || !NF { next }
        /^\047/ { size = 0 }
        /^\047struct / && !/gotrace_(event|frame|arg_spec|clocks|allocator|change)\047/ { head = $0; next }
        /^  type size changed from [0-9]+ to / { size = $5; next }
        /^  [0-9]+ data member insertions?:$/ { next }
        /^    \047.*, at offset [0-9]+ \(in bits\)$/ && size && $(NF - 2) >= size { next }
        { if (head) print head; head = ""; print }'
}

soname() { sed -n "s/^<abi-corpus .*soname='\([^']*\)'.*/\1/p" "$1"; }

check() {
    local found
    if [ "$(soname "$recorded")" != "$(soname "$work/abi")" ]; then
        echo "abi: the SONAME changed: run make abi, and commit $recorded"
        return 1
    fi
    found=$(abidiff --no-added-syms --leaf-changes-only --no-show-locs "$recorded" "$work/abi" | incompatible)
    if [ -n "$found" ]; then
        echo "abi: programs that were built with the recorded ABI ($recorded) would break:"
        echo "$found"
        echo 'abi: take the change back, or raise GOTRACE_VERSION_MAJOR, which changes the SONAME, and run make abi'
        return 1
    fi
    abidiff --harmless "$recorded" "$work/abi" >/dev/null && return
    echo "abi: the ABI grew, and older programs still run: run make abi, and commit $recorded"
    return 1
}

command -v abidw >/dev/null || { echo 'abi: abidw is not installed (make deps-test)' >&2; exit 1; }
describe >"$work/abi" || exit 1
if [ "${1-}" = check ]; then check >&2; else cat "$work/abi"; fi
