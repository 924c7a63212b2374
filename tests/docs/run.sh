#!/usr/bin/env bash
# Checks README, CONTRIBUTING and the manual pages: tables of the library's data, the example
# program, the transcripts of terminals, and the paths.
#
#   tests/docs/run.sh     UPDATE=1 writes tables and example into the pages
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
here=$PWD
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR
PATH=$build:$build/examples:$PATH

# shellcheck disable=SC1091
. tests/checks.bash

# ---- generated parts of pages ------------------------------------------------------------------

# Quote text for roff.
roff() { sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/"; }

# repeats PAGE NAME COMMAND...: between `.\" BEGIN NAME` and `.\" END NAME` the page has the output
# of the command.
repeats() {
    local page=$1 name=$2
    shift 2
    "$@" >"$work/part" || return 1
    grep -qF ".\\\" BEGIN $name" "$page" || { echo "$page has no part $name"; return 1; }
    awk -v name="$name" -v part="$work/part" '
        $0 == ".\\\" END " name { inside = 0 }
        !inside { print }
        $0 == ".\\\" BEGIN " name { inside = 1; while ((getline line <part) > 0) print line }
    ' "$page" >"$work/page"
    [ -z "${UPDATE:-}" ] || cp "$work/page" "$page"
    diff -u --label "$page" --label 'as it should be' "$page" "$work/page"
}

example() { roff <"tests/examples/$1"; }

# The functions of these headers, in the language of manual pages.
prototypes() {
    cat "$@" | sed -n '/^GOTRACE_API/,/;/p' | tr -s '\n ' ' ' | tr ';' '\n' | awk '
        /GOTRACE_API/ {
            sub(/.*GOTRACE_API /, "")
            open = index($0, "(")
            head = substr($0, 1, open - 1)
            match(head, /gotrace_[a-z0-9_]+$/)
            printf ".Ft \"%s\"\n.Fo %s\n", substr(head, 1, RSTART - 1), substr(head, RSTART)
            count = split(substr($0, open + 1, length($0) - open - 1), args, ", *")
            for (i = 1; i <= count; i++)
                printf ".Fa \"%s\"\n", args[i]
            print ".Fc"
        }' | sed 's/^\(.Ft ".*[^ ]\) "$/\1"/'
}

check 'gotrace.1 has the rules' repeats man/gotrace.1 rules tables rules
check 'gotrace-format.5 has the events of v1' repeats man/gotrace-format.5 events tables events
check 'gotrace-format.5 has the events of v2' \
    repeats man/gotrace-format.5 events-v2 tables events-v2
for name in running.c folded.c hello.c fibers.c; do
    check "libgotrace.3 has $name" repeats man/libgotrace.3 "$name" example "$name"
done
check 'gotrace-script.5 has the events of v1' repeats man/gotrace-script.5 script tables script
check 'gotrace-script.5 has the events of v2' \
    repeats man/gotrace-script.5 script-v2 tables script-v2
for name in server.script server.old.script; do
    check "gotrace-script.5 has $name" repeats man/gotrace-script.5 "$name" example "$name"
done
check 'libgotrace.3 has the functions' repeats man/libgotrace.3 prototypes \
    prototypes lib/gotrace_base.h lib/gotrace.h lib/gotrace_experimental.h
check 'gotrace_record.3 has the functions' repeats man/gotrace_record.3 prototypes \
    prototypes lib/gotrace_record.h
check 'gotrace_symbols.3 has the functions' repeats man/gotrace_symbols.3 prototypes \
    prototypes lib/gotrace_symbols.h
for name in scheduler.c sampling.c crash.c; do
    check "gotrace_record.3 has $name" repeats man/gotrace_record.3 "$name" example "$name"
done

# Scripts of each version match the JSON Schema.
schema_holds() {
    local version trace form name
    mkdir -p "$work/scripts"
    local versions='1.19 1.22 1.26'
    [ -z "${ALL:-}" ] || versions='1.19 1.21 1.22 1.23 1.25 1.26'
    for version in $versions; do
        for trace in testdata/traces/"go$version"-{gc,user}.trace; do
            [ -e "$trace" ] || continue
            name=$work/scripts/$(basename "$trace")
            for form in json jsonl; do
                gotrace dump -q --format $form -o "$name.$form" "$trace"
                gotrace dump -q --level meaning --format $form -o "$name.meaning.$form" "$trace"
            done
        done
    done
    printf 'Trace Go1.19\nString id=1 form=3 pad=0:2\n\tdata="\\xff"\n' | gotrace synth |
        gotrace dump --format jsonl -o "$work/scripts/odd.jsonl"
    printf 'Trace Go1.21\nFrequency freq=18446744073709551615\n' | gotrace synth |
        gotrace dump --format json -o "$work/scripts/large.json"
    gotrace dump --schema json -o "$work/schema"
    python3 tests/docs/schema.py "$work/schema" "$work"/scripts/*
}
if python3 -c 'import jsonschema' 2>/dev/null; then
    check 'scripts match the schema of dump --schema json' schema_holds
else
    skip 'scripts against the schema of dump --schema json' 'there is no python3 with jsonschema'
fi

# Each name in the CDDL is defined there, once, and each event is.
cddl_is_complete() {
    local names='[A-Za-z]+(-meant)?-1\.[0-9]+'
    gotrace dump --schema cbor -o "$work/cddl" || return 1
    diff <(grep -oE "^$names" "$work/cddl" | sort) <(grep -oE "$names" "$work/cddl" | sort -u) &&
        diff <(grep -oE '^[A-Z][A-Za-z]*' "$work/cddl" | sort -u) \
            <({ tables events; tables events-v2; } | sed -n 's/^\.It [0-9]* Sy \([A-Za-z]*\).*/\1/p' | sort -u)
}
check 'the schema of dump --schema cbor has the events' cddl_is_complete

# Members of stat's objects are in its manual page; names of reasons and ranges are of the trace.
stat_members() {
    local trace member status=0
    while read -r member; do
        grep -qE "^\\.(It|Pq|Cm).*\\b$member\\b" man/gotrace-stat.1 || { echo "there is no $member"; status=1; }
    done < <(for trace in testdata/traces/*-{user,prof,gens*,net}.trace ${ALL:+testdata/traces/*.trace}; do gotrace stat --json --each "$trace" 2>/dev/null; done |
        jq -r 'select(.type == null) | [paths | select(all(.[:-1][]; . != "block_ns" and . != "range_ns")) |
            .[-1] | strings] | unique[]' | sort -u)
    return $status
}
if command -v jq >/dev/null; then
    check 'gotrace-stat.1 has the members of the JSON objects' stat_members
else
    skip 'gotrace-stat.1 has the members of the JSON objects' 'jq is not installed'
fi

# The columns of the tables that convert writes, by their types.
table_columns() (
    rm -rf "$work/tables"
    gotrace convert -q --to parquet -o "$work/tables" testdata/traces/go1.26-user.trace || return 1
    echo '.Bl -tag -width Ds'
    set -o pipefail
    for file in "$work"/tables/*.parquet; do
        echo ".It $(basename "$file" .parquet)"
        python3 -B tests/cli/parquet.py footer "$file" | awk '
            /^\[/ { next }
            { type = $2 == 6 ? "STRING" : $4 == 14 ? "UINT64" : "INT64" }
            { printf "%s.Cm %s No %s%s", (NR > 1 ? " ,\n" : ""), $1, type, ($3 == "True" ? "?" : "") }
            END { print "" }' || return 1
    done
    echo .El
)
# Each of them is explained in the section of its table.
columns_explained() {
    local status=0 table column section
    while read -r table column; do
        section=$(awk -v table="$table" '
            /^\.Ss / { inside = 0; for (i = 2; i <= NF; i++) inside = inside || $i == table }
            inside' man/gotrace-parquet.5)
        [ "$column" = trace ] || grep -qE "^\.(It )?Cm.* $column( |\$)" <<<"$section" ||
            { echo "$table.$column is not explained"; status=1; }
    done < <(sed -n '/BEGIN columns/,/END columns/p' man/gotrace-parquet.5 |
        awk '$1 == ".It" { table = $2 } $1 == ".Cm" { print table, $2 }')
    return $status
}
if python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null; then
    check 'gotrace-parquet.5 has the columns' repeats man/gotrace-parquet.5 columns table_columns
else
    skip 'gotrace-parquet.5 has the columns' 'there is no python3, or no libzstd for it'
fi
check 'gotrace-parquet.5 explains the columns' columns_explained

# The queries in README.md are among those of the page, which conformance runs.
readme_queries() {
    local queries
    queries=$(awk '/^```/ { query = $0 == "```sql duckdb"; next } query' README.md)
    [ -n "$queries" ] && [[ $(sed -n '/BEGIN duckdb/,/END duckdb/p' man/gotrace-parquet.5) == *"$queries"* ]]
}
check 'gotrace-parquet.5 has the queries of README.md' readme_queries

# Examples are written like a user's program: they include only installed headers.
examples_include() {
    ! grep -HoE '(^|[ /])(lib|cmd|formats)/[a-z0-9_/]+\.(h|def|c)' "$build"/obj/tests/examples/*.d |
        grep -vE 'lib/gotrace(_base|_events|_rules|_record|_symbols)?\.h'
}
check 'examples include no private header' examples_include

# The program in README.md compiles, and prints each start of a goroutine.
readme_program() {
    local compiler
    read -ra compiler <<<"${CC:-cc}" # "ccache gcc"
    awk '/^```/ { program = $0 == "```c"; next } program' README.md >"$work/starts.c"
    "${compiler[@]}" -Wall -Wextra -Werror -Ilib -o "$work/starts" "$work/starts.c" -L"$build" -lgotrace \
        -Wl,-rpath,"$build" &&
        [ "$("$work/starts" testdata/traces/go1.19-http.trace | grep -c 'starts to run$')" -eq \
            "$(gotrace print --format jsonl testdata/traces/go1.19-http.trace |
                jq 'select(.resource == "goroutine" and .to == "running")' -c | wc -l)" ]
}

# Examples in other languages record sound traces, with the functions that wait.
tasks_in_python() {
    local version
    for version in 5 21 26; do
        LIBRARY=$build/libgotrace.so python3 tests/examples/tasks.py $version >"$work/tasks.trace" &&
            gotrace validate "$work/tasks.trace" || return 1
    done
    gotrace print "$work/tasks.trace" >"$work/tasks.txt" && [ "$(grep -c 'waiting(sleep) at pause$' "$work/tasks.txt")" -eq 5 ] &&
        [ "$(grep -c 'waiting(sleep) at adder$' "$work/tasks.txt")" -eq 8 ]
}
letters_in_rust() {
    local version
    rustc -g -C force-frame-pointers=yes -D warnings -L "$build" -o "$work/letters" tests/examples/letters.rs || return 1
    for version in 5 21 26; do
        LD_LIBRARY_PATH=$build "$work/letters" $version >"$work/letters.trace" && gotrace validate "$work/letters.trace" || return 1
    done
    gotrace print "$work/letters.trace" >"$work/letters.txt" &&
        grep -q 'G1 not-exist -> runnable start=letters::reader$' "$work/letters.txt" &&
        [ "$(grep -c 'waiting(chan receive) at letters::reader$' "$work/letters.txt")" -ge 1 ]
}
if nm "$build/gotrace" 2>/dev/null | grep -qE '__(asan|tsan|ubsan)'; then
    skip 'the program in README.md works' 'its library has sanitizers'
    skip 'examples in other languages' 'their library has sanitizers'
else
    check 'the program in README.md works' readme_program
    check 'the example in Python' tasks_in_python
    if command -v rustc >/dev/null; then
        check 'the example in Rust' letters_in_rust
    else
        skip 'the example in Rust' 'no rustc'
    fi
fi

# Tables fit their columns, and there is no space before a comma.
pages_render() {
    local page
    ! { awk -f tests/docs/columns.awk man/*.[1-8]
        for page in man/*.[1-8]; do
            mandoc -T utf8 "$page" | sed 's|.\x08||g' | grep -nE '[a-z)] [,;]( |$)' | sed "s|^|$page: |"
        done; } | grep .
}
check 'manual pages render well' pages_render

# ---- transcripts -------------------------------------------------------------------------------

# The literal blocks of a page, or of Markdown, that begin with a prompt.
transcripts() {
    awk '
        /^\.Bd -literal/ || /^```console$/ { first = 1; inside = 1; next }
        /^\.Ed$/ || /^```$/ { inside = 0 }
        /^\.\\" (BEGIN|END) / { next }
        inside && first { first = 0; inside = /^\$ / }
        inside { sub(/^\\&/, ""); gsub(/\\e/, "\\"); print }
    ' "$1"
}

# From a transcript (standard input): the commands, each after a line with its number; $1.N is the
# expected output of the N-th.
split_transcript() {
    awk -v expected="$1" '
        /^\$ / { n++; printf "echo @@%d\n%s\n", n, substr($0, 3); printf "" >(expected "." n); next }
        /^> / { print substr($0, 3); next }
        { print >(expected "." n) }'
}

# agrees EXPECTED GOT: "[...]" matches anything; on a line of its own, any lines.
agrees() {
    awk '
        function pattern(s,   parts, n, i, p) {
            gsub(/[][\\.^$*+?(){}|]/, "\\\\&", s)
            n = split(s, parts, /\\\[\\\.\\\.\\\.\\\]/)
            p = parts[1]
            for (i = 2; i <= n; i++)
                p = p ".*" parts[i]
            return "^" p "$"
        }
        FNR == NR { want[++wants] = $0; next }
        { got[++gots] = $0 }
        END {
            for (i = j = 1; i <= wants; i++) {
                if (want[i] == "[...]") {
                    any = 1
                    continue
                }
                while (any && j <= gots && got[j] !~ pattern(want[i]))
                    j++
                any = 0
                if (j > gots || got[j] !~ pattern(want[i])) {
                    print "expected: " want[i] "\n     got: " (j > gots ? "nothing more" : got[j])
                    exit 1
                }
                j++
            }
            if (!any && j <= gots) {
                print "not expected: " got[j]
                exit 1
            }
        }' "$1" "$2"
}

# Run the transcripts of a document, in a folder of its own.
transcript_holds() {
    local folder count n bad=0
    folder=$work/$(basename "$1")
    mkdir "$folder"
    ln -s "$here/testdata" "$folder/testdata"
    cp testdata/traces/go1.19-http.trace "$folder/app.trace"
    cp testdata/traces/go1.19-gc.trace "$folder/gc.trace"
    cp testdata/traces/go1.26-gens.trace "$folder/new.trace"
    transcripts "$1" >"$work/transcript"
    # Files that a transcript shows with cat are created first.
    awk -v folder="$folder/" '
        /^\$ / { file = "" }
        file { print >(folder file) }
        /^\$ cat [a-z.]+$/ { file = $3 }' "$work/transcript"
    split_transcript "$work/expected" <"$work/transcript" >"$work/commands"
    count=$(grep -c '^echo @@' "$work/commands")
    (cd "$folder" && timeout "$HANG" bash "$work/commands") >"$work/said" 2>&1 </dev/null
    # AddressSanitizer prints this for fibers.
    sed '/^==[0-9]*==WARNING: ASan doesn.t fully support makecontext/d' "$work/said" >"$work/output"
    awk -v got="$work/got" '/^@@/ { n = substr($0, 3); printf "" >(got "." n); next }
        { print >(got "." n) }' "$work/output"
    for ((n = 1; n <= count; n++)); do
        agrees "$work/expected.$n" "$work/got.$n" && continue
        echo "    from: $(sed -n "/^echo @@$n\$/,/^echo @@/{//!p}" "$work/commands" | head -n 1)"
        bad=1
    done
    rm -f "$work"/expected.* "$work"/got.*
    return $bad
}

if command -v jq >/dev/null; then
    for document in README.md man/*.[1-8]; do
        [ -n "$(transcripts "$document")" ] || continue
        check "$document: transcripts" transcript_holds "$document"
    done
else
    skip 'transcripts' 'jq is not installed'
fi

# ---- README and CONTRIBUTING -------------------------------------------------------------------

demo_works() { "${MAKE:-make}" -s --no-print-directory demo && [ -s "$build/demo/go1.19-http.pftrace" ]; }
check 'make demo' demo_works

verbs_are_listed() {
    local verb
    for verb in $(gotrace help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        grep -q "^| \`$verb\`" README.md || { echo "README.md does not list $verb"; return 1; }
        grep -q "^\.It Cm $verb\$" man/gotrace.1 || { echo "gotrace.1 does not list $verb"; return 1; }
    done
}
check 'README.md and gotrace.1 list the verbs' verbs_are_listed

# The questions of README.md by how they begin, a recording of testdata/causes, and what the output or the files of each
# command have: regular expressions, separated by semicolons; with ! they must not have it.
questions='
What is wrong|go1.27-lock.contended-http-3|1\. lock.contended: .* 9. %
Is the new|go1.27-lock.contended-http-3|^NEW is faster: task search p99;^NEW is faster: task
Why was a request slow|go1.27-lock.contended-http-3|waiting \(sync\) .*main\.\(\*store\)\.lookup
What does the garbage|go1.22-gc.cpu-crowd-3|44\.8% of the procs;, stw, .*GC sweep
Where is the bottleneck|go1.19-goroutine.leak-stage-1|main\.dedup: 1 goroutine;main\.parse
Do goroutines leak|go1.19-goroutine.leak-stage-1|goroutines 3.;^main\.notify: 21 goroutines .21 created, 0 ended;goroutines 21;main\.notify, .*chan send
Why did the program freeze|go1.27-process.frozen-http-3| 8.\.[0-9]* ms, silence;GoStart
The trace is too large|go1.27-process.frozen-http-3|main\.compute;main\.compute;main\.compute
The file is damaged|damaged|error: ;main\.compute
There are many|go1.22-gc.cpu-crowd-3|other.trace;app.trace:.*, stw, ;tables/goroutines\.parquet;all\.html
An old trace|go1.27-process.frozen-http-3|go 1\.22 trace
The trace must not|go1.27-process.frozen-http-3|!main\.compute|search
'

# The commands for a question of README.md, with the names that are in the recordings.
# shellcheck disable=SC2016
commands_for() {
    sed -n '/^## Which command/,/^## V/p' README.md | grep "^| $1" | grep -oE '`gotrace [^`]*\.trace`' | tr -d '`' |
        sed 's/--task request/--task search/; s/main\.worker > 100/main.notify > 20/; s/goroutines > 10000/goroutines > 30/'
}

# answers COMMAND PATTERN: in a folder, what the command prints and the texts in the files that it writes.
answers() {
    local status negated=0
    touch begun
    timeout "$HANG" bash -c "$1" >"$work/said" 2>&1 </dev/null
    status=$?
    find . -type f -newer begun -print -exec zcat -f {} \; | strings >>"$work/said"
    [ $status -le 1 ] || { echo "$1: status $status"; head "$work/said"; return 1; }
    [[ $2 != !* ]] || negated=1
    grep -qE -- "${2#!}" "$work/said"
    [ $? -eq $negated ] || { echo "$1: not as expected: $2"; head "$work/said"; return 1; }
}

# The commands for questions in README.md give the answer, for programs with a planted cause.
questions_answered() (
    count=0 bad=0 folder=$work/questions
    mkdir "$folder" || exit 1
    # Not compressed, and cut off.
    gotrace merge -q -o "$work/whole" testdata/causes/go1.27-process.frozen-http-3.trace.zst &&
        head -c 20000 "$work/whole" >"$work/damaged.trace.zst" || exit 1
    while IFS='|' read -r question recording expected; do
        [ -n "$question" ] || continue
        mapfile -t commands < <(commands_for "$question")
        IFS=';' read -ra patterns <<<"$expected"
        [ ${#commands[@]} -eq ${#patterns[@]} ] || { echo "$question: ${#commands[@]} commands"; bad=1; }
        [ "$recording" = damaged ] || recording=$here/testdata/causes/$recording
        for i in "${!commands[@]}"; do
            rm -rf "${folder:?}"/*
            cp "testdata/traces/go1.22-gensgc.trace" "$folder/other.trace"
            (cd "$work" && cp "$recording.trace.zst" "$folder/app.trace")
            mkdir "$folder/old" "$folder/new"
            cp "$folder/app.trace" "$folder/old.trace" && cp "$folder/old.trace" "$folder/old"
            cp testdata/causes/go1.27-network.wait-sessions-3.trace.zst "$folder/new.trace" && cp "$folder/new.trace" "$folder/new"
            (cd "$folder" && answers "${commands[i]}" "${patterns[i]}") || bad=1
            count=$((count + 1))
        done
    done <<<"$questions"
    [ $count -eq "$(commands_for '' | wc -l)" ] ||
        { echo "only $count commands are tried"; bad=1; }
    exit $bad
)
check 'README.md: commands for questions' questions_answered

# Names between backquotes, and the targets of links.
# shellcheck disable=SC2016
names_of() { grep -oE '`[A-Za-z.][A-Za-z0-9_.*/-]*`|\]\([^):]*\)' "$1" | tr -d '`])('; }

# Those that look like paths of the tree must exist.
paths_exist() {
    local path status=0
    while read -r path; do
        case $path in
        lib/* | cmd/* | formats/* | tests/* | testdata/* | man/* | bench/* | fuzz/* | .ci/* | *.md) ;;
        *) continue ;;
        esac
        case $path in *NAME*) continue ;; esac
        compgen -G "$path" >/dev/null || { echo "$1: there is no $path"; status=1; }
    done < <(names_of "$1")
    return $status
}
for document in README.md CONTRIBUTING.md testdata/README.md testdata/causes/README.md tests/README.md tests/conformance/README.md; do
    check "$document: paths" paths_exist "$document"
done

end_checks
