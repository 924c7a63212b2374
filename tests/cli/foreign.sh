# shellcheck shell=bash
# Files of other formats are recognised by their beginning; the message says what to do, and nothing is written.
trace=$TRACES/go1.26-gens.trace
noise() { tail -c +17 "$trace" | head -c 3000; }

{ printf '\3757zXZ\0'; noise; } >app.xz
{ printf 'BZh91AY&SY'; noise; } >app.bz2
{ printf '\4\042\115\030'; noise; } >app.lz4
{ printf 'gotrace crash\n'; noise; } >app.crash
{ printf 'PK\3\4'; noise; } >app.zip
{ head -c 257 /dev/zero; printf 'ustar\00000'; noise; } >app.tar
printf '\n<!DOCTYPE html>\n<html><title>Login</title></html>\n' >login.html
printf '\357\273\277\t\r\n <html><title>Login</title></html>\r\n' >spaces.html
printf '404 page not found\n' >notfound
printf 'Could not enable tracing: tracing is already enabled\n' >busy
printf '<?xml version="1.0"?><svg/>\n' >app.svg
printf '{"level":"info","msg":"started"}\n' >app.log
gotrace dump -o text.script "$trace"
gotrace dump --format json -o json.script "$trace"
gotrace dump --format jsonl --level meaning -o jsonl.script "$trace"
gotrace dump --format cbor -o cbor.script "$trace"
gotrace convert --to chrome -o chrome.json "$trace"
gotrace convert --to perfetto -o app.pftrace "$trace"
gotrace print --format jsonl -o events.jsonl "$trace"
printf '[{"name":"a","ph":"X","ts":1,"dur":2}]' >list.json
{ printf '\12\4\10\1\20\2\12\4\10\3\20\4\22\10'; noise; } >cpu.pprof
{ printf '\177ELF\2\1\1'; noise; } >program
{ printf 'PERFILE2'; noise; } >perf.data
{ printf '%%PDF-1.7'; noise; } >a.pdf
{ printf '\211PNG\r\n\032\n'; noise; } >a.png
{ printf '\377\330\377\340'; noise; } >a.jpg
for file in app.xz app.bz2 app.lz4 app.crash app.zip app.tar login.html spaces.html notfound busy app.svg app.log text.script \
    json.script jsonl.script cbor.script chrome.json app.pftrace events.jsonl list.json cpu.pprof \
    program perf.data a.pdf a.png a.jpg; do
    run gotrace validate -q $file
    for verb in repair print dump info 'split --by generation' merge 'convert --to perfetto'; do
        # shellcheck disable=SC2086
        gotrace $verb -q -o out $file 2>said && echo "$verb $file: status 0"
        grep -q 'header.foreign' said || { echo "$verb $file:"; cat said; }
        [ ! -e out ] || { echo "$verb $file: something is written"; rm -r out; }
    done
done
run gotrace validate app.pftrace
run gotrace validate --json app.pftrace

# A file that contains the header of a trace is read from there, whatever precedes it.
{ cat login.html "$trace"; } >mixed.html
{ cat app.tar "$trace"; } >trace.tar
for file in mixed.html trace.tar; do
    run gotrace validate -q $file
    gotrace repair -q -o good $file
    cmp good "$trace"
done
