#!/usr/bin/env bash
# Checks of the source tree: exported symbols, includes, manual pages, completion, installation.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD="${BUILD:-build}"
gotrace() { "$BUILD/gotrace" "$@"; }

# shellcheck disable=SC1091
. tests/checks.bash

have() { command -v "$1" >/dev/null; }

# ---- the library -------------------------------------------------------------------------------

api_functions() {
    cat lib/gotrace_base.h lib/gotrace.h lib/gotrace_record.h lib/gotrace_symbols.h lib/gotrace_experimental.h | tr '\n' ' ' | grep -oE 'GOTRACE_API [^;(]*\(' | grep -oE 'gotrace_[a-z0-9_]+\(' |
        tr -d '(' | sort
}
map_functions() { sed -n 's/^ *\(gotrace_[a-z0-9_]*\);$/\1/p' lib/gotrace.map | sort; }
so_functions() {
    nm -D --defined-only "$BUILD/libgotrace.so" |
        sed -n 's/.* [TDBRVW] \([^@]*\).*/\1/p' | grep -v '^__\(asan\|odr\|tsan\|ubsan\)' | sort
}

exports() {
    diff <(api_functions) <(map_functions) && diff <(api_functions) <(so_functions)
}

soname() {
    local major
    major=$(sed -n 's/^#define GOTRACE_VERSION_MAJOR //p' lib/gotrace_base.h)
    readelf -d "$BUILD/libgotrace.so" | grep -q "SONAME.*\[libgotrace\.so\.$major\]" &&
        readelf -d "$BUILD/gotrace" | grep -q "NEEDED.*\[libgotrace\.so\.$major\]"
}

# includes FOLDER...: print a line "SOURCE HEADER" for each of our files that a source in these folders
# includes, directly or indirectly, according to the compiler.
includes() {
    local source
    find "$@" -name '*.c' | sort | while read -r source; do
        grep -q . "$BUILD/obj/${source%.c}.d" || { echo "$source has no list of what it includes"; continue; }
        tr -s ' \\:' '\n' <"$BUILD/obj/${source%.c}.d" | grep -E '^(lib|formats|cmd)/.*\.(h|def)$' | sort -u |
            sed "s|^|$source |"
    done
}

# only ALLOWED FOLDER...: sources in these folders include only what matches ALLOWED, a pattern of whole paths.
only() {
    local allowed=$1
    shift
    includes "$@" >"$work/includes"
    [ -s "$work/includes" ] || { echo "nothing is known of what $* include"; return 1; }
    ! grep -vE "^[^ ]* ($allowed)\$" "$work/includes"
}

# Of lib, only installed headers, and those that define only inline functions.
private_headers() { only 'lib/gotrace(_base|_events|_rules|_experimental|_record|_symbols)?\.h|lib/core/(hash|lookup|malloc|temp_file|text|thread|tracer_names)\.h|(formats|cmd)/.*' formats cmd; }

one_way() {
    only 'lib/.*' lib && only '(lib|formats)/.*' formats || return 1
    # The implementation of a verb can be linked without the program's input and output (fuzz/mutator_afl.c).
    only '(lib|formats)/.*|cmd/(gen|mutate|parts|repair)/.*' cmd/gen cmd/mutate cmd/parts cmd/repair
}

# lib/core does not include the other parts of lib, the two formats do not include each other, and
# the recorder uses the encoder.
lib_folders() {
    local public='lib/gotrace(_base|_events|_rules|_experimental|_record|_symbols)?\.h|lib/events_v[12]\.def|lib/core/.*' part
    only "$public" lib/core || return 1
    only "$public|lib/record/.*|lib/write/encoder\.h" lib/record || return 1
    for part in read write; do
        only "$public|lib/$part/.*" "lib/$part" &&
            only "$public|lib/$part/([^/]*|v1/.*)" "lib/$part/v1" &&
            only "$public|lib/$part/([^/]*|v2/.*)" "lib/$part/v2" || return 1
    done
}

# formats.h and formats.c, in no folder, list the formats. What formats/analyse and formats/diagnose compute, any of them
# may write.
# The report has the timeline of view.
format_folders() {
    local folder shared
    for folder in formats/*/; do
        shared='common|analyse|diagnose'
        [ "$folder" != formats/html/ ] || shared+='|view'
        only "lib/.*|formats/formats\.h|formats/($shared)/.*|$folder.*" "$folder" || return 1
    done
}

# cycles FOLDER...: print the modules in these folders that include each other.
cycles() { find "$@" -name '*.[ch]' -exec grep -H '#include "' {} + | awk -f tests/tree/cycles.awk | sort; }

# Includes go one way inside of each folder too.
no_cycles() {
    cycles lib formats cmd >"$work/cycles"
    [ ! -s "$work/cycles" ] || { cat "$work/cycles"; return 1; }
}

finds_cycles() {
    local folder=$work/cyclic
    mkdir "$folder" || return 1
    echo '#include "b.h"' >"$folder/a.c"
    echo '#include "c.h"' >"$folder/b.h"
    tee "$folder/c.c" "$folder/d.c" <<<'#include "a.h"'
    touch "$folder/a.h" "$folder/c.h"
    diff <(cycles "$folder") - <<END
$folder/a: $folder/b
$folder/b: $folder/c
$folder/c: $folder/a
END
}

# The library does not print, exit or abort (except the sanitizers' runtimes).
no_output() {
    [ "$BUILD" = build ] || return 0
    ! nm -D --undefined-only "$BUILD/libgotrace.so" |
        grep -wE 'printf|puts|putchar|perror|stdout|stderr|exit|abort|fprintf|__printf_chk|__fprintf_chk'
}

# settings has the common and limit options; those of a verb are in the struct of its file.
own_options() { ! grep -n 'offsetof(settings,' cmd/verbs/*.c; }

# ar x would overwrite a member with another one of the same name.
member_names() {
    [ "$(ar t "$BUILD/libgotrace.a" | wc -l)" -gt 20 ] && ! ar t "$BUILD/libgotrace.a" | sort | uniq -d | grep .
}

header_alone() {
    local header compiler standard
    for header in gotrace gotrace_record gotrace_symbols gotrace_experimental; do
        cat >"$work/a.c" <<EOF
#include "$header.h"
gotrace_status open_file(const char *path, gotrace_source **source)
{
    gotrace_config config = GOTRACE_INIT(gotrace_config);
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    return gotrace_source_open(path, &config, source, &error);
}
EOF
        for standard in c99 c11; do
            cc -std=$standard -Wall -Wextra -Wpedantic -Werror -Ilib -fsyntax-only "$work/a.c" || return 1
        done
        for compiler in c++ clang++-14; do
            ! have $compiler || for standard in c++11 c++14 c++17 c++20; do
                $compiler -std=$standard -Wall -Wextra -Wpedantic -Werror -Ilib -fsyntax-only -x c++ "$work/a.c" || return 1
            done
        done
    done
}

# GOTRACE_REC_CALLERS has all callers, at each level of optimization.
callers() {
    local compiler level
    for compiler in 'gcc -std=c99' 'clang-14 -std=c99' 'g++ -std=c++11 -x c++' 'clang++-14 -std=c++11 -x c++'; do
        # shellcheck disable=SC2086
        ! have "${compiler%% *}" || for level in -O0 -O1 -O2 -O3 -Os; do
            echo "$compiler $level"
            $compiler $level -Wall -Wextra -Wpedantic -Werror -fno-omit-frame-pointer -Ilib testdata/record/callers.c \
                -x none -o "$work/callers" -L"$BUILD" -lgotrace -Wl,-rpath,"$(realpath "$BUILD")" && "$work/callers" || return 1
        done
    done
}

without_libdw() {
    local object=$work/plain/obj/lib/record/dwarf.o messages
    if ! messages=$(make -s BUILD="$work/plain" LIBDW= "$object" 2>&1) || [ -n "$messages" ] || [ ! -e "$object" ]; then
        echo "$messages"
        return 1
    fi
}

compile_commands() {
    make -s BUILD="$work/listed" compile_commands &&
        diff <(find lib formats cmd fuzz tests/unit tests/examples -name '*.c' ! -path 'cmd/preload/*' | sort) \
            <(jq -r '.[].file' "$work/listed/compile_commands.json" | sort)
}

check 'gotrace.h, gotrace.map and libgotrace.so agree' exports
check 'soname' soname
check 'program includes no private header' private_headers
check 'cmd -> formats -> lib' one_way
check 'folders of lib' lib_folders
check 'formats do not use each other' format_folders
check 'an include cycle is found' finds_cycles
check 'no include cycle' no_cycles
check 'the library does not print or exit' no_output
check 'the public headers can be included alone' header_alone
if nm "$BUILD/gotrace" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)'; then
    skip 'GOTRACE_REC_CALLERS has all callers' 'the library has sanitizers'
else
    check 'GOTRACE_REC_CALLERS has all callers' callers
fi
check 'options of a verb are in its file' own_options
check 'members of libgotrace.a have different names' member_names
check 'the library compiles without libdw' without_libdw
check 'make compile_commands: every source' compile_commands

# abi_after SED WORDS: after that change of gotrace.h the check of the ABI fails with these words.
abi_after() {
    rm -rf "$work/abi" && mkdir "$work/abi" && cp lib/gotrace*.h "$work/abi" || return 1
    sed -i "$1" "$work/abi/gotrace.h" "$work/abi/gotrace_base.h"
    ! cmp -s <(cat lib/gotrace.h lib/gotrace_base.h) <(cat "$work"/abi/gotrace{,_base}.h) || { echo "nothing to change: $1"; return 1; }
    ! LIB=$work/abi lib/abi.sh check >"$work/abi/out" 2>&1 || { echo "not noticed: $1"; return 1; }
    grep -q "$2" "$work/abi/out" || { echo "$1:"; cat "$work/abi/out"; return 1; }
}

abi_breaks() {
    local breaks='would break' change
    for change in 's/^    GOTRACE_EVENT_CLOCKS = 16/    GOTRACE_EVENT_CLOCKS = 32/' \
        's/^    GOTRACE_KIND_SYSCALL,/    GOTRACE_KIND_NEW, GOTRACE_KIND_SYSCALL,/' \
        '/^    int64_t time; /d' 's/^    int64_t time; /    int64_t more, time;/' \
        's/^    uint32_t stack;   /    uint64_t stack; /' 's/^} gotrace_event;/    int more;\n&/' 's/^} gotrace_frame;/    int more;\n&/' \
        's/done, uint64_t total);/done);/' 's/gotrace_version(void)/gotrace_other(void)/' \
        's/gotrace_class_name(gotrace_class /gotrace_class_name(uint64_t /'; do
        abi_after "$change" "$breaks" || return 1
    done
}

abi_grows() {
    local change
    for change in 's/^} gotrace_raw;/    uint64_t more;\n&/' 's/^} gotrace_config;/    uint64_t more;\n&/' \
        's/^    GOTRACE_LIMIT_INPUT,/&\n    GOTRACE_LIMIT_NEW,/' \
        's/^GOTRACE_API const char .gotrace_version(void);/&\nGOTRACE_API int gotrace_new(void);/'; do
        abi_after "$change" 'older programs still run: run make abi' || return 1
    done
    abi_after 's/VERSION_MAJOR .*/VERSION_MAJOR 99/' 'SONAME changed: run make abi'
}

if have abidw; then
    check 'the ABI: changes that break programs are found' abi_breaks
    check 'the ABI: what is added is to be recorded' abi_grows
else
    skip 'the ABI' 'abidw is not installed'
fi

# ---- manual pages ------------------------------------------------------------------------------

# A page formatted for a terminal of 78 columns, without bold.
page() { mandoc -T ascii -O width=78 "man/gotrace-$1.1" | sed 's,.\x08,,g'; }
synopsis() { page "$1" | sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | tr -s ' \n' ' '; }

# The long options in --help, and in the page's synopsis and lists, sorted. Those of all verbs are in
# gotrace(1).
long_options() { grep -oE '^ {2}.{4}--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u; }
help_options() { gotrace help "$1" | long_options; }
page_options() {
    { synopsis "$1"; page "$1" | grep -E '^ {5}-'; } | grep -oE -e '--[a-z][a-z-]*' | sort -u
}

# A subsection of gotrace(1).
page_one() { mandoc -T ascii -O width=78 man/gotrace.1 | sed 's,.\x08,,g' | sed -n "/^   $1/,/^   [A-Z]/p"; }

# Name and default of each limit.
limits_agree() {
    diff --label 'help limits' --label 'gotrace(1)' \
        <(gotrace help limits | sed -n 's/^ *\(--max-[a-z]*\) .*(\(.*\))$/\1 \2/p') \
        <(page_one Limits | sed -n 's/^ *\(--max-[a-z]*\) [A-Z]* *(\(.*\))$/\1 \2/p')
}

common_agree() {
    diff --label 'help limits' --label 'gotrace(1)' \
        <(gotrace help limits | sed '/^$/q' | long_options) \
        <(page_one 'Common options' | grep -E '^ {5}-' | grep -oE -e '--[a-z][a-z-]*' | sort -u)
}

# The page of a verb refers to gotrace(1) for them.
pages_refer() {
    local verb
    for verb in $(gotrace help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        gotrace help "$verb" | grep -q '^Limits and common options: gotrace help limits' || continue
        grep -q '^The .*common options and the limits are described in' "man/gotrace-$verb.1" ||
            { echo "gotrace-$verb(1) does not mention the limits"; return 1; }
    done
}

# Each verb has the options that gotrace-selection(7) says, and the page of one that has none says why.
selection_agrees() {
    local verb options why given page
    for verb in $(gotrace help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        case $verb in version | help) continue ;; esac
        given=$(gotrace help "$verb" | sed -n 's/^ .*--\(from\|until\|goroutine\|function\|task\|region\|proc\|thread\|generation\) .*/\1/p' | sort | tr '\n' ' ')
        case $given in
        'from function generation goroutine proc region task thread until ') given='all' ;;
        'from until ' | 'from function task until ') given='times' ;; # diagnose: whose time counts
        *) given='none' ;;
        esac
        IFS=$'\t' read -r options why < <(sed -n "s/^\.It Cm $verb Ta \([a-z]*\) Ta *\(.*\)/\1\t\2/p" man/gotrace-selection.7)
        [ "$options" = "$given" ] || { echo "gotrace-selection(7): $verb has $given, not '$options'"; return 1; }
        case $given:$why in
        none:'no trace is read') page='' ;;
        none:*) page='^No part of a trace can be selected, because ' ;;
        *) page='^\.Xr gotrace-selection 7' ;;
        esac
        grep -q "$page" "man/gotrace-$verb.1" || { echo "gotrace-$verb(1) has no line '$page'"; return 1; }
    done
}

# Help fits 80 columns.
help_fits() {
    local topic
    for topic in limits $(gotrace help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        ! gotrace help "$topic" | grep -nE '^.{81}' || { echo "help $topic"; return 1; }
    done
}

page_agrees() {
    local arguments
    [ -f "man/gotrace-$1.1" ] || { echo "there is no such page"; return 1; }
    diff --label help --label page <(help_options "$1") <(page_options "$1") || return 1
    # The arguments are the same in the synopsis.
    arguments=$(gotrace help "$1" | sed -n "1s/^usage: gotrace $1 \[OPTION \.\.\.\] *//p")
    synopsis "$1" | grep -qiF -- "${arguments:-gotrace}" || { echo "synopsis: $arguments"; return 1; }
}

if have mandoc; then
    for page in man/*.[1-8]; do
        [ -e "$page" ] || continue
        check "mandoc -T lint $page" mandoc -T lint -W warning "$page"
    done
    for verb in $(gotrace help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        check "man/gotrace-$verb.1 agrees with --help" page_agrees "$verb"
    done
    check 'gotrace(1): limits' limits_agree
    check 'gotrace(1): common options' common_agree
    check 'manual pages refer to gotrace(1) for limits' pages_refer
else
    skip 'manual pages' 'mandoc is not installed'
fi

check 'gotrace-selection(7): the options of each verb' selection_agrees
check 'help fits 80 columns' help_fits

# ---- completion --------------------------------------------------------------------------------

# The completions that bash offers for the last of these words.
complete_words() {
    # shellcheck disable=SC2016
    bash -c '
        . "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _gotrace 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' - "$work/bash" "$@"
}

completion_bash() {
    gotrace help --completion bash >"$work/bash" && bash -n "$work/bash" || return 1
    [ "$(complete_words gotrace val)" = validate ] || return 1
    [ "$(complete_words gotrace validate --max-e)" = --max-errors ] || return 1
    [ "$(complete_words gotrace synth --max-m)" = --max-memory ] || return 1
    [ -z "$(complete_words gotrace gen --max-m)" ] || return 1
    [ "$(complete_words gotrace print --format js)" = jsonl ] || return 1
    [ "$(complete_words gotrace help inf)" = info ] || return 1
    [ "$(complete_words gotrace info Makef)" = Makefile ]
}

completion_zsh() {
    gotrace help --completion zsh >"$work/zsh" && zsh -n "$work/zsh"
}

check 'bash completion' completion_bash
if have zsh; then
    check 'zsh completion' completion_zsh
else
    skip 'zsh completion' 'zsh is not installed'
fi

# ---- installation ------------------------------------------------------------------------------

to_make() { "${MAKE:-make}" -s --no-print-directory "$@" DESTDIR="$work/root" PREFIX=/opt/gotrace; }

installs() {
    local root=$work/root/opt/gotrace
    to_make install || return 1
    env -i PATH=/usr/bin:/bin "$root/bin/gotrace" version || return 1
    for file in include/gotrace.h include/gotrace_base.h include/gotrace_events.h include/gotrace_rules.h include/gotrace_experimental.h include/gotrace_record.h include/gotrace_symbols.h lib/libgotrace.a \
        lib/libgotrace.so lib/gotrace/libgotrace-preload.so \
        lib/pkgconfig/gotrace.pc share/bash-completion/completions/gotrace \
        share/zsh/site-functions/_gotrace \
        share/doc/gotrace/record.png \
        share/doc/gotrace/examples/{running.c,fibers.c,server.script,server.old.script}; do
        [ -s "$root/$file" ] || { echo "missing: $file"; return 1; }
    done
    for page in man/*.[1-8]; do
        [ -e "$page" ] || continue
        [ -s "$root/share/man/man${page##*.}/${page#man/}" ] || { echo "missing: $page"; return 1; }
    done
}

# A user's program, built with pkg-config, shared and static.
links() {
    local root=$work/root flags
    cat >"$work/user.c" <<'END'
#include <gotrace.h>
#include <stdio.h>
int main(void)
{
    return puts(gotrace_version()) < 0;
}
END
    export PKG_CONFIG_PATH="$root/opt/gotrace/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
    flags=$(pkg-config --cflags --libs gotrace) || return 1
    # shellcheck disable=SC2086
    cc -o "$work/user" "$work/user.c" $flags || return 1
    [ "$(LD_LIBRARY_PATH=$root/opt/gotrace/lib "$work/user")" = "$(pkg-config --modversion gotrace)" ] ||
        return 1
    cc -o "$work/user" "$work/user.c" "-I$root/opt/gotrace/include" \
        "$root/opt/gotrace/lib/libgotrace.a" -lzstd -lz && "$work/user"
}

# The installed examples, used as in their first comment or the manual page.
runs_examples() {
    local root=$work/root/opt/gotrace name flags
    local examples=$root/share/doc/gotrace/examples
    export PKG_CONFIG_PATH="$root/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/root"
    export LD_LIBRARY_PATH="$root/lib"
    flags=$(pkg-config --cflags --libs gotrace) || return 1
    for name in fibers running; do
        # shellcheck disable=SC2086
        cc -o "$work/$name" "$examples/$name.c" $flags || return 1
    done
    "$work/fibers" >"$work/fibers.trace" &&
        [ "$("$work/running" "$work/fibers.trace" | wc -l)" = 4 ] || return 1
    for name in server server.old; do
        "$root/bin/gotrace" synth -o "$work/$name.trace" "$examples/$name.script" &&
            "$root/bin/gotrace" validate -q "$work/$name.trace" || return 1
    done
}

uninstalls() {
    to_make uninstall || return 1
    [ -z "$(find "$work/root" -type f -o -type l)" ] || { find "$work/root" -type f; return 1; }
}

# ---- programs with a planted cause -----------------------------------------------------------------

# shellcheck disable=SC2016 # backquotes of Markdown
causes_described() {
    diff <(grep -oh '^\sprograms\["[^"]*"\] =' testdata/causes/*.go | cut -d'"' -f2 | sort) \
        <(sed -n 's/^| \(`[^|]*-[^|]*`\) |.*/\1/p' testdata/causes/README.md | tr -d '` ' | tr , '\n' | sort)
}

# A program that reads the findings from the trace.
confusion_matrix() {
    local strength traces=$work/causes
    mkdir "$traces" || return 1
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' 'cat "$3"' >"$work/reads" && chmod +x "$work/reads"
    for strength in 1 2 3; do
        echo '{"id":"lock.contended"}' >"$traces/go1.22-lock.contended-http-$strength.trace"
        echo '{"id":null}' >"$traces/go1.22-healthy-cli-$strength.trace"
    done
    RECORD=0 GOTRACE=$work/reads GOTRACE_CAUSES=$traces bench/causes.sh >"$work/matrix" || return 1
    grep -Eq '^healthy +\. +3$' "$work/matrix" && grep -Eq '^lock.contended +3 +\.$' "$work/matrix" || return 1
    printf '{"id":"gc.cpu"}\n{"id":"lock.contended"}\n' >"$traces/go1.22-lock.contended-http-2.trace"
    echo '{"id":"gc.cpu"}' >"$traces/go1.22-healthy-cli-2.trace"
    ! RECORD=0 GOTRACE=$work/reads GOTRACE_CAUSES=$traces bench/causes.sh >"$work/matrix" || return 1
    diff <(tail -n 14 "$work/matrix") - <<'END'
                      (1)  (2)  (3)
lock.contended          2    1    .
healthy                 .    1    2

traces with another first finding:
  go1.22-healthy-cli-2: gc.cpu
  go1.22-lock.contended-http-2: gc.cpu lock.contended

planted cause is the first finding    2 of    3   66.7 %   >= 90 %   MISSED
  with strength 1                      1 of    1  100.0 %
  with strength 2                      0 of    1    0.0 %
  with strength 3                      1 of    1  100.0 %
is among the first two                3 of    3  100.0 %   >= 97 %   met
healthy, and no finding               2 of    3   66.7 %   >= 90 %   MISSED
END
}

check 'testdata/causes/README.md: every program' causes_described
check 'bench/causes.sh: the confusion matrix' confusion_matrix

check 'make install' installs
if [ "$BUILD" != build ]; then
    skip 'linking with the installed library' "$BUILD wants its sanitizer's flags"
elif have pkg-config; then
    check 'linking with the installed library' links
    check 'the installed examples' runs_examples
else
    skip 'linking with the installed library' 'pkg-config is not installed'
fi
check 'make uninstall' uninstalls

end_checks
