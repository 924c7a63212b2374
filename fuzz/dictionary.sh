#!/usr/bin/env bash
# dictionary.sh [v1|v2|script|expression]: print a dictionary for the fuzzer (default: all but the last), from the event tables:
# the first byte of each event (v1: in each form), its name and arguments in a script, the headers, and
# boundary values.
set -u
cd "$(dirname "$0")/.." || exit 1

# rows TABLE: code, name and names of arguments of each event.
rows() {
    {
        echo '#define E(code, name, since, flags, args, summary, does) row code name args'
        echo '#define T(code, name, since, flags, args, summary, does) row code name args'
        echo '#define N(code, name, since, summary) row code name ()'
        echo '#define A(kind, name) name'
        echo '#define A_SINCE(kind, name, version) name'
        echo '#define A_UNTIL(kind, name, version) name'
        cat "lib/$1.def"
    } | "${CC:-cc}" -E -P - | sed -n 's/^ *row \([0-9]*\) \([A-Za-z]*\) *(\(.*\)) *$/\1 \2 \3/p' | tr -d ,
}

# headers FIRST LAST: headers of traces.
headers() {
    local version text
    for version in 5 7 8 9 10 11 19 21 22 23 25 26; do
        if [ "$version" -lt "$1" ] || [ "$version" -gt "$2" ]; then continue; fi
        text="go 1.$version trace"
        printf '"%s' "$text"
        printf '\\x00%.0s' $(seq $((16 - ${#text})))
        printf '"\n'
    done
}

v1() {
    headers 5 21
    rows events_v1 | while read -r code _; do
        for form in 0 64 128 192; do
            printf '"\\x%02x"\n' $((code + form))
        done
    done
}

v2() {
    headers 22 26
    rows events_v2 | while read -r code _; do
        printf '"\\x%02x"\n' "$code"
    done
    # The size of a batch, in ten bytes.
    printf '"'
    printf '\\x80%.0s' 1 2 3 4 5 6 7 8 9
    printf '\\x00"\n'
}

numbers() {
    cat <<'WORDS'
"\x00\x01"
"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"
"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"
"\xc0\x84\x3d"
"\xc1\x84\x3d"
"\xe8\x07"
"\xe9\x07"
"\x80\x80\x04"
"\x28\xb5\x2f\xfd"
WORDS
}

script() {
    local version
    for version in 5 7 8 9 10 11 19 21 22 23 25 26; do
        printf '"Trace Go1.%s\\x0a"\n' "$version"
    done
    { rows events_v1; rows events_v2; } | while read -r _ name arguments; do
        printf '"%s "\n' "$name"
        for argument in $arguments; do
            printf '"%s="\n' "$argument"
        done
    done | sort -u
    script_words
}

script_words() {
    cat <<'WORDS'
"{\"trace\":\"go 1.19\"}\x0a"
"{\"event\":\""
"\"form\":"
"\"widths\":["
"\"data\":\""
"18446744073709551615"
"18446744073709551616"
"9223372036854775808"
"\\xff"
"\\u0000"
"\xd9\xd9\xf7\xa2\x65trace\x67go 1.19\x67records\x9f"
"\xa1\x65trace\x67go 1.22"
"\x65event\x65GoEnd"
"\x64data\x7f"
"\x66frames\x81\x84"
"\x64form\x03"
"\x63pad\x81\x82"
"\x1b\xff\xff\xff\xff\xff\xff\xff\xff"
"\x7b\xff\xff\xff\xff\xff\xff\xff\xff"
"\x7a\x00\x0f\x42\x40"
"\xf9\x7e\x00"
"\x9f"
"\xbf"
"\xff"
WORDS
}

expression() {
    sed -n 's/^ *X([A-Z]*, "\([a-z]*\)".*/"\1"/p' formats/analyse/expression.h
    cat <<'WORDS'
" and "
" or "
"not "
"during ("
"function ~ "
"stack ~ "
"goroutine == "
"(sync)"
"(network)"
" >= 1.5ms"
" < 100us"
"18446744073709551615"
"G"
"(?:"
"\\Q"
WORDS
}

case ${1:-all} in
v1) v1 && numbers ;;
v2) v2 && numbers ;;
script) script ;;
expression) expression ;;
all) v1 && v2 && numbers && script ;;
*)
    echo 'usage: dictionary.sh [v1|v2|script|expression]' >&2
    exit 2
    ;;
esac
