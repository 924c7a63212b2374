# shellcheck shell=bash
# A JSON document in memory that does not depend on its size: 9 MB within an address space of 64 MiB,
# which includes the program and its libraries. The header may follow the events.
is_built_with asan && skip 'a sanitizer needs its memory'
events=200000
list() {
    awk -v n=$events -v last="$1" 'BEGIN {
        print "[{\"event\":\"Batch\",\"p\":0,\"ticks\":1}"
        for (; n > 0; n -= 2)
            print ",{\"event\":\"GoSched\",\"dt\":3,\"stk\":0}\n," \
                "{\"event\":\"GoStartLocal\",\"dt\":5,\"g\":123456789012345}"
        print "," last "]"
    }'
}
within() {
    (ulimit -v 65536; exec gotrace synth "$@")
}
frequency='{"event":"Frequency","freq":1000000000}'
{ echo '{"records":'; list "$frequency"; echo ',"trace":"go 1.21"}'; } >script
{ echo '{"trace":"go 1.21","records":'; list "$frequency"; echo '}'; } >usual
{ echo 'Trace Go1.21'; gotrace synth usual | gotrace dump | tail -n +2; } >text
echo "$(($(stat -c %s script) / 1000000)) MB"
gotrace synth -o wanted text
for how in script usual; do
    within -o trace $how
    echo "$how: => $?"
    cmp trace wanted
    # shellcheck disable=SC2002
    cat $how | within | cmp - wanted
done
rm trace

# Errors far from the beginning, on their own line and on the only one, and malformed JSON.
{ echo '{"trace":"go 1.21","records":'; list '{"event":"GoEnd","dt":-1},{"event":"GoEnd","dt":1,}'; echo '}'; } >script
within -o trace script
echo "=> $?"
tr -d '\n' <script | within -o trace
echo "=> $?"
{ list '{"event":"GoEnd" "dt":1}' | sed '1s/^/{"records":/'; echo ',"trace":"go 1.21"}'; } | within -o trace
echo "=> $?"
head -c 7000000 usual | within -o trace
echo "=> $?"
[ ! -e trace ]
