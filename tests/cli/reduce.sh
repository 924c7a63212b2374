# shellcheck shell=bash
# The smallest trace for which a command still fails.
sample go1.19-user.trace old.trace
sample go1.26-user.trace new.trace

echo '== findings: the rule that a trace violates'
for file in "$TRACES"/../findings/*.trace; do
    rule=$(gotrace validate "$file" 2>&1 | sed -n 's/.*: error: .*\[\(.*\)\]$/\1/p' | head -n 1)
    [ -n "$rule" ] || continue
    gotrace reduce -q --test 'gotrace validate' --stderr "error: .*\\[$rule\\]" -o small.trace "$file" || echo "status $?"
    echo "$(basename "$file"): $rule, $(stat -c %s "$file") -> $(stat -c %s small.trace) bytes"
    gotrace validate small.trace 2>&1 | grep -c "error: .*\\[$rule\\]" | sed 's/^0$/another rule/; /^[1-9]/d'
done

echo '== a parser with a planted fault'
cat >parser <<'EOT'
#!/bin/sh
# Fails if a goroutine yields after a task began.
gotrace dump "$1" 2>/dev/null | awk '/^UserTask(Create|Begin)/ { began = 1 } /^(GoSched|GoBlock)/ && began { bad = 1 }
    END { if (bad) print "cannot block in a task" >"/dev/stderr"; exit bad ? 7 : 0 }'
EOT
chmod +x parser
for trace in old new; do
    for option in '' --any; do
        # shellcheck disable=SC2086
        gotrace reduce $option --test ./parser --stderr 'cannot block' -q -o small.trace $trace.trace
        echo "=> $?"
        ./parser small.trace 2>/dev/null
        echo "parser: $?"
        [ "$(stat -c %s small.trace)" -lt 700 ] || echo "$trace $option: $(stat -c %s small.trace) bytes"
        gotrace validate -q small.trace >/dev/null 2>&1
        echo "validate: $?"
    done
done
gotrace dump small.trace | grep -oE '^[A-Z][A-Za-z]*' | sort | uniq -c

echo '== a large one'
gotrace gen --go 1.21 --events 60000 -o large.trace
printf '\x93\x01' | cat large.trace - >wrong.trace
gotrace validate wrong.trace 2>&1 | head -n 1 | sed 's/.*\(\[.*\]\)/\1/'
gotrace reduce -q --test 'gotrace validate' --status 1 -o small.trace wrong.trace
echo "=> $?"
[ "$(stat -c %s small.trace)" -lt 64 ] || stat -c %s small.trace

echo '== a hang, and processes that are left'
cat >hang <<'END'
#!/bin/sh
hold() { sleep "$HANG" & echo $! >>held; }
hold
[ "$(stat -c %s "$1")" -lt 5000 ] || { hold; wait; }
exit 3
END
chmod +x hang
head -c 6000 old.trace >damaged.trace
run gotrace reduce --timeout 1 --status 4 --test ./hang -o small.trace damaged.trace
while read -r process; do wait_until is_gone "$process"; done <held

echo '== interrupted'
# interrupted COMMAND...: a signal arrives when the tested command has made the file "begun".
interrupted() {
    env --default-signal "$@" &
    wait_until [ -e begun ]
    kill -INT $!
    wait $!
    echo "=> $?"
    rm begun
}
cat >slow <<'END'
#!/bin/sh
# The fourth run does not end.
echo >>runs
[ "$(wc -l <runs)" -lt 4 ] || { : >begun; sleep "$HANG"; }
exit 5
END
chmod +x slow
mkdir tmp
TMPDIR=$PWD/tmp interrupted gotrace reduce --test ./slow -o small.trace old.trace 2>said
sed 's/.*: note: [0-9]* of [0-9]* bytes, status 5, [0-9]* tests*/smaller/' said
[ "$(stat -c %s small.trace)" -lt "$(stat -c %s old.trace)" ] || echo 'no smaller trace was found'
find tmp -mindepth 1

rm small.trace
cat >slower <<'END'
#!/bin/sh
: >begun
sleep "$HANG"
END
chmod +x slower
interrupted gotrace reduce --test ./slower -o small.trace old.trace 2>&1
[ ! -e small.trace ] || echo 'a trace was written'

echo '== a command that prints without end'
cat >endless <<'END'
#!/bin/sh
yes | head -c 1000000 >&2
while echo y >&2; do sleep 0.05; done
END
chmod +x endless
run gotrace reduce --timeout 1 --test ./endless --stderr '^y' -o small.trace damaged.trace

echo '== errors'
run gotrace reduce -o small.trace old.trace
run gotrace reduce --test ./missing -o small.trace old.trace
: >data
run gotrace reduce --test ./data -o small.trace old.trace
run gotrace reduce --test ./parser --status 3 -o small.trace old.trace
run gotrace reduce --test ./parser --stderr 'another message' -o small.trace old.trace
run gotrace reduce --test ./parser --stderr '(' -o small.trace old.trace

echo '== a command that ends in another way each time'
cat >other <<'END'
#!/bin/sh
# Fails for each trace the first time only.
sum=$(cksum "$1") && sum=${sum%% *}
[ ! -e "seen.$sum" ] || exit 0
: >"seen.$sum"
exit 4
END
chmod +x other
run gotrace reduce --test ./other -o small.trace damaged.trace

echo '== a file that cannot be written: no search'
rm -f seen.*
run gotrace reduce --test ./other -o missing/small.trace damaged.trace
find . -name 'seen.*' | wc -l

echo '== another message than on the trace'
cat >messages <<'END'
#!/bin/sh
size=$(stat -c %s "$1")
if [ "$size" -gt 1000 ]; then echo "goroutine 7 at 0x1f: starts twice" >&2
elif [ "$size" -gt 500 ]; then echo "goroutine 12 at 0xabc: starts twice" >&2
else printf '\nshort \033[31mfile\n' >&2; fi
exit 1
END
chmod +x messages
run gotrace reduce --any --test ./messages -o small.trace old.trace | sed -E 's/, [0-9]+ tests?//; s/^[0-9]+ of/N of/'
run gotrace reduce --any --test ./messages --stderr 'starts twice' -o small.trace old.trace | sed -E 's/, [0-9]+ tests?//'
run gotrace reduce -q --any --test ./messages -o small.trace old.trace

echo '== a command that replaces its trace by a link'
echo precious >precious
cat >linker <<'EOT'
#!/bin/sh
ln -sf "$PWD/precious" "$1"
echo bad >&2
exit 1
EOT
chmod +x linker
gotrace reduce --test ./linker --stderr bad -q -o small.trace new.trace
echo "=> $?"
cat precious
