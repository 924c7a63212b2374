#!/usr/bin/env bash
# dictionary.sh: words for the fuzzer, from the event table: the first byte of each event in each
# form, its name in a script, the headers, and numbers at the edges.
set -u
cd "$(dirname "$0")/.." || exit 1

rows() {
    {
        echo '#define E(code, name, since, flags, args, summary) row code name'
        echo '#define T(code, name, since, flags, args, summary) row code name'
        cat lib/events_v1.def
    } | "${CC:-cc}" -E -P - | sed -n 's/^ *row \([0-9]*\) \([A-Za-z]*\).*/\1 \2/p'
}

headers() {
    local version text
    for version in 5 7 8 9 10 11 19 21 22; do
        text="go 1.$version trace"
        printf '"%s' "$text"
        printf '\\x00%.0s' $(seq $((16 - ${#text})))
        printf '"\n"Trace Go1.%s\\x0a"\n' "$version"
    done
}

rows | while read -r code name; do
    for form in 0 64 128 192; do
        printf '"\\x%02x"\n' $((code + form))
    done
    printf '"%s "\n' "$name"
done
headers
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
"\x28\xb5\x2f\xfd"
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
