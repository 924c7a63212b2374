# shellcheck shell=bash
# Synth reports all errors of a script, 20 of them in full, and writes nothing. Consequences of an
# earlier error are not reported.
many() {
    case $1 in
    text) printf 'Trace Go1.26 level=meaning\n' ;;
    jsonl) printf '{"trace":"go 1.26","level":"meaning"}\n' ;;
    json) printf '{"trace":"go 1.26","level":"meaning","events":[\n' ;;
    cbor) printf '\xa2\x65trace\x67go 1.26\x65level\x67meaning' ;;
    esac
    for ((i = 1; i <= $2; i++)); do
        case $1 in
        text) printf 'GoStart t=%d g=%d gg=1\n' "$i" "$i" ;;
        jsonl) printf '{"event":"GoStart","t":%d,"g":%d,"gg":1}\n' "$i" "$i" ;;
        json) printf '{"event":"GoStart","t":%d,"g":%d,"gg":1}%s\n' "$i" "$i" "$([ "$i" = "$2" ] || echo ,)" ;;
        cbor) printf '\xa3\x65event\x67GoStart\x61t\x01\x62gg\x01' ;;
        esac
    done
    [ "$1" != json ] || printf ']}\n'
}
for encoding in text jsonl json cbor; do
    many $encoding 23 >script
    run gotrace synth -o trace script
    many $encoding 20 >script
    gotrace synth -o trace script 2>&1 | grep -c error
done
[ ! -e trace ] || echo 'something was written'

# Two faults in one event; three faults of the header; malformed lines of JSON Lines.
cat >script <<'END'
Trace Go1.26 level=meaning procz=2 freq=1 start=x
UserTaskBegin t=1 task=1 name="fetch" parent=0
UserLog t=2 task=1
	key="a"
	value_string='b c'
END
run gotrace synth -o trace script
cat >script <<'END'
{"trace":"go 1.26","level":"meaning"}
{"event":"GoStart","t":1,"g":1
{"event":"GoStart" "t":1,"g":1}

{"event":"GoBlock","t":2,"reson_string":"x","stack":[5]}
END
run gotrace synth -o trace script

# Each of these has one fault, in its third line or before.
one() {
    printf '%b' "Trace Go1.26 level=meaning\n$1" >script
    run gotrace synth -o trace script
}
# The missing start, block, creation or end causes no further errors.
one 'GoCreate t=1 g=1 new_g=7\nGoBlock t=2 reason="x"\nGoStart t=3 g=7\nGoUnblock t=4 g=1\nGoDestroy t=5\nGoStart t=6 g=1\n'
one 'GoCreate t=1 g=1 new_g=7\nGoBlok t=2\nGoStart t=3 g=7\nGoUnblock t=4 g=1\nGoDestroy t=5\nGoStart t=6 g=1\n'
one 'GoCreate t=1 g=1 newg=7\nGoBlock t=2\nGoStart t=3 g=7\nGoBlock t=4\nSync t=5\nGoUnblock t=6 p=1 g=7\n'
one 'GoStart t=1 g=5\nGoDestroy now=2\nGoStart t=3 g=6\nGoBlock t=4\nGoCreate t=5 g=1 new_g=5\n'
one 'GCBegin t=1 g=1\nGCEnd t=2 stack=x\nGCBegin t=3\nGCEnd t=4\n'
one 'GoStart t=1 g=1\nUserRegionBegin t=2 nam="a"\nUserRegionEnd t=3 name_string="a"\nUserRegionEnd t=4 name_string="b"\n'
one 'UserTaskBegin t=1 g=1 task=x\nUserTaskEnd t=2 task=1\nUserTaskBegin t=3 task=1\nUserTaskBegin t=4 task=1\n'
# A goroutine that starts twice; a time that decreases once; rejected events are still written with --force.
one 'GoStart t=1 g=7\nGoStart t=2 g=8\nGoBlock t=3\nGoUnblock t=4 p=1 g=8\nGoUnblock t=5 p=1 g=7\nGoStart t=6 g=8\n'
one 'GoStart t=9000 g=7\nGoBlock t=20\nGoUnblock t=30 p=1 g=7\nGoStart t=40 g=7\n'
# The level is missing: the rest of the script cannot be checked.
printf 'Trace Go1.26\nGoStart t=1 g=7\nGoBlock t=2\n' >script
run gotrace synth -o trace script

# Two faults far apart are two errors.
one 'GoStart t=1 g=7\nGoStart t=2 g=8\nGoStart t=3 p=3 g=30\nGoUnblock t=4 p=3 g=31\nGoUnblock t=5 p=3 g=31\n'
