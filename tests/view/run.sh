#!/usr/bin/env bash
# `gotrace view` as a server: who is answered, what hostile and slow clients can do, how it ends. What the answers
# contain is tested in tests/unit.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/checks.bash
. tests/checks.bash
traces=$PWD/testdata/traces
clients=$PWD/tests/view/clients.py
gaps=$PWD/tests/view/gaps.py
page=$PWD/formats/view/page
gotrace=$(realpath "${BUILD:-build}")/gotrace
export LC_ALL=C.UTF-8
unset NO_COLOR
# shellcheck disable=SC2154 # of checks.bash
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
cp "$traces/go1.26-net.trace" app.trace

# serve NAME ARGUMENT...: a server, once it has printed its address, with the files NAME.* and the variables
# address, site, port and cookies. Standard input is the caller's.
serve() {
    local name=$1
    shift
    rm -f "$name".*
    : >"$name.out"
    "$gotrace" view "$@" >"$name.out" 2>"$name.err" <&0 3>&- &
    server=$!
    wait_until printed "$name" || return
    address=$(cat "$name.out")
    [[ $address =~ ^http://127\.0\.0\.1:([0-9]+)/\?token=[0-9a-f]{64}$ ]] || { cat "$name".*; return 1; }
    port=${BASH_REMATCH[1]}
    site=http://127.0.0.1:$port
    cookies=gotrace-$port=${address#*=}
}
# Or it has ended.
printed() { [ -s "$1.out" ] || is_gone "$server"; }

# end SIGNAL STATUS: the last server.
end() {
    local status
    kill -"$1" "$server"
    wait "$server"
    status=$?
    [ "$status" = "$2" ] || { echo "status $status instead of $2"; cat ./*.err; return 1; }
    [ -z "$(ls -A tmp)" ] || { ls -A tmp; return 1; }
}

# ask WORD... PATH: the body of an answer to who has the cookie; code: its status.
ask() { curl -s --max-time "$HANG" -H "Cookie: $cookies" "${@:1:$#-1}" "$site${*: -1}"; }
code() { ask -o /dev/null -w '%{http_code}' "$@"; }

# is CODE WORD... PATH
is() {
    local expected=$1 status
    shift
    status=$(code "$@")
    [ "$status" = "$expected" ] || { echo "$*: $status instead of $expected"; return 1; }
}

# has FILTER PATH: of the JSON.
has() { ask "$2" | jq -e "$1" >/dev/null; }
complete() { wait_until has .complete /api/1/trace; }

exchanges_token() {
    local header
    curl -s -o body -D headers "$address" && [ ! -s body ] || return
    for header in 'HTTP/1.1 303 See Other' 'Location: /' "Set-Cookie: gotrace-$port=${address#*=}; Path=/; HttpOnly; SameSite=Strict"; do
        grep -qxF "$header" <(tr -d '\r' <headers) || { echo "no $header"; cat headers; return 1; }
    done
    is 200 / && ask / | head -n 1 | grep -qi '<!doctype html>'
}

restricts_page() {
    local path header
    for path in / /no-such-file /api/1/trace /api/1/no-such-question; do
        ask -o /dev/null -D headers "$path"
        for header in "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" \
            'X-Content-Type-Options: nosniff' 'Referrer-Policy: no-referrer' 'Cache-Control: no-store'; do
            grep -qxF "$header" <(tr -d '\r' <headers) || { echo "$path: no $header"; cat headers; return 1; }
        done
        ! grep -qi '^access-control-' headers || return
    done
}

# The page names only files that there are.
has_its_files() {
    local file files
    files=$(ask / | grep -oE '(src|href)="[^"#]+"' | cut -d '"' -f 2 | grep -v '^data:')
    [ -n "$files" ] || return
    for file in $files; do
        [[ $file != *:* ]] && is 200 "/${file#/}" || return
    done
}

# without the cookie, or with another one.
denies() {
    local token=${address#*=} other path
    other=$(tr 0-9a-f 1-9a-f0 <<<"$token")
    for path in / /api/1/trace /no-such-file "/?token=$other" "/?token=${token%?}" "/?token=${token}0" '/?token=' '/?token' "/api/1/trace?token=$token"; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' "$site$path")" = 403 ] || { echo "$path"; return 1; }
    done
    for cookie in "gotrace-$port=$other" "gotrace-$port=" "gotrace-$port" "gotrace=$token" "gotrace-$port=${token}0" "x=$token"; do
        [ "$(curl -s -o /dev/null -w '%{http_code}' -b "$cookie" "$site/")" = 403 ] || { echo "$cookie"; return 1; }
    done
}

checks_host() {
    local host
    for host in 127.0.0.1 "127.0.0.1:$port" localhost "localhost:$port" localhost:9; do
        is 200 -H "Host: $host" / || return
    done
    for host in example.com "example.com:$port" 127.0.0.1.example.com localhost.example.com localhost: localhost:9x 127.0.0.2 \
        'localhost:9@example.com' '[::1]' 0.0.0.0; do
        is 403 -H "Host: $host" / && is 403 -H "Host: $host" /api/1/trace || return
        [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Host: $host" "$address")" = 403 ] || return
    done
    is 400 -H 'Host:' /
}

checks_origin() {
    local origin
    is 200 -H "Origin: $site" /api/1/trace && is 200 -H 'Host: localhost:9' -H 'Origin: http://localhost:9' /api/1/trace || return
    for origin in http://example.com null "https://127.0.0.1:$port" http://127.0.0.1:1 http://localhost "$site.example.com" "http://localhost:$port"; do
        is 403 -H "Origin: $origin" /api/1/trace || return
    done
}

only_reads() {
    local method
    for method in POST PUT DELETE OPTIONS PATCH TRACE CONNECT x; do
        is 405 -X "$method" / && is 405 -X "$method" /api/1/trace || return
    done
    is 405 -d x=y /api/1/trace && is 200 -I / && [ -z "$(ask -I / | sed '1,/^\r$/d')" ]
}

only_its_files() {
    local path
    for path in /../../etc/passwd /%2e%2e/%2e%2e/etc/passwd //etc/passwd /etc/passwd /. /./ /index.html%00 /..%5c.. /api /api/ /api/1 \
        /api/1/ /api/1/../../ /api/2/trace /api/1/none /api/1/trace/ /api/1//trace /api/1/%2e%2e/trace; do
        is 404 --path-as-is "$path" || return
    done
}

limits_arguments() {
    is 400 "/api/1/trace?$(seq -s '&' 17)" && is 400 '/api/1/window?from=1%002' && is 400 '/api/1/window?fr%00om=1'
}

limits_requests() {
    local long
    long=$(head -c 100000 /dev/zero | tr '\0' a)
    [[ $(code "/$long") = 4[13][14] ]] && [[ $(code -H "X: $long" /) = 431 ]] && is 200 / || return
    head -c 100000000 /dev/zero >body
    is 405 -T body / && [[ $(code -X GET -T body /) = [012]00 ]] && is 200 /
}

# at 127.0.0.1, and nowhere else.
local_only() {
    awk -v port="$(printf ':%04X' "$port")" '$4 == "0A" && $2 ~ port "$" { print $2 }' /proc/net/tcp /proc/net/tcp6 |
        diff - <(printf '0100007F:%04X\n' "$port")
}

indexes() {
    complete && wait_until has .ready /api/1/findings && has '.events > 1000 and .failed == null and .problems == []' /api/1/trace
}

# answers QUESTION ARGUMENT...: what a job answers.
answers() {
    wait_until is_answered "$@" && cat answer
}
is_answered() {
    local argument words=()
    for argument in "${@:2}"; do words+=(--data-urlencode "$argument"); done
    ask -G "${words[@]}" "/api/1/$1" >answer && jq -e '.ready != false' answer >/dev/null
}

# The sums, moments and stacks of a range are those of the verbs.
answers_as_verbs() {
    local -a range=(from=1000000 until=2500000) options=(--from 1000000ns --until 2500000ns)
    local columns='[.name, .goroutines, .ended, .alive, .cost'
    answers stat "${range[@]}" | jq -c ".functions[] | $columns, .total, .execution, .scheduling, .syscalls]" >answered
    "$gotrace" stat --json --only goroutines "${options[@]}" app.trace |
        jq -c "select(.kind == \"function\") | ${columns}_ns, .total_ns.sum, .exec_ns.sum, .sched_wait_ns.sum, .syscall_ns.sum + .syscall_block_ns.sum]" |
        diff - answered && [ -s answered ] || return
    answers search limit=1000 'where=wait > 10us or run and during (wait(network))' "${range[@]}" |
        jq -c '.moments[] | [.what, .begin, .end, .goroutine, .name]' >answered
    "$gotrace" find --json 'wait > 10us or run and during (wait(network))' "${options[@]}" app.trace |
        jq -c '[.what, .begin, .end, (.goroutine // empty | tostring), .function // ""]' | diff - answered && [ -s answered ] || return
    answers flame profile=sync "${range[@]}" | jq '[.flame.total, (.flame.frames | [range(0; length; 3) as $n | select(.[$n] == 0) | .[$n + 2]] | add)][]' >answered
    "$gotrace" convert --to folded --profile sync "${options[@]}" app.trace -o - | awk '{ sum += $NF } END { print sum; print sum }' | diff - answered
}

# Half of a trace comes through a pipe, and then the rest.
while_indexing() {
    local size
    size=$(stat -c %s app.trace)
    mkfifo pipe && exec 3<>pipe || return
    serve piped - <pipe && is 200 / && has '.complete == false and .problems == []' /api/1/trace || return
    head -c $((size / 2)) app.trace >&3
    has '.complete | not' /api/1/trace && has '.ready | not' /api/1/findings || return
    # The pipe ends when nobody has it.
    tail -c +$((size / 2 + 1)) app.trace >&3
    exec 3>&-
    complete && end TERM 0
}

ends_while_reading() {
    local signal
    for signal in INT TERM; do
        mkfifo "silent.$signal" && exec 3<>"silent.$signal" || return
        serve reading - <"silent.$signal" && is 200 /api/1/trace && end $signal 0 || return
        exec 3>&-
    done
    # While it reads.
    "$gotrace" gen --events 300000 -o large.trace && serve long large.trace && end INT 0
}

ends() {
    local signal
    for signal in INT TERM; do
        serve ending app.trace && complete && end $signal 0 || return
        ! curl -s "$site/" || return
    done
}

# Labels of goroutines, not those of the garbage collector's workers: in tracks, intervals, paths and moments.
labels() {
    "$gotrace" synth -o labels.trace <<'TRACE' || return
Trace Go1.26 level=meaning
ProcStatus t=0 m=7 p=0 pstatus=running
GoStatus t=0 on_m=7 p=0 g=1 m=7 gstatus=running
GoLabel t=100 m=7 p=0 g=1 label_string="boss"
GoCreate t=200 m=7 p=0 g=1 new_g=2 new_stack="main.work /src/a.go:7"
GoBlock t=1000 m=7 p=0 g=1 reason_string="sync"
GoStart t=1100 m=7 p=0 g=2
GoLabel t=1200 m=7 p=0 g=2 label_string="GC (idle)"
GoUnblock t=2000 m=7 p=0 on_g=2 g=1
GoDestroy t=2100 m=7 p=0 g=2
GoStart t=3000 m=7 p=0 g=1
GoDestroy t=4000 m=7 p=0 g=1
TRACE
    serve labelled labels.trace && complete || return
    [ "$(ask '/api/1/tracks?kind=0&sort=id' | jq -c '[.tracks[] | [.id, .label]]')" = '[["1","boss"],["2",null]]' ] &&
        has '.tracks | map(.label) == [null, null]' '/api/1/tracks?kind=10' && has '.label == "boss"' '/api/1/interval?kind=0&id=1&at=500' &&
        has '.label == null and .wakes[0].label == "boss"' '/api/1/interval?kind=0&id=2&at=1500' &&
        has '.label == null and .cause.label == "boss"' '/api/1/interval?kind=0&id=2&at=500' && has '.goroutine == "1" and .label == "boss"' '/api/1/interval?kind=1&id=0&at=500' &&
        has '.parts | map([.goroutine, .label]) | unique == [["1", "boss"], ["2", null]]' '/api/1/path?goroutine=1&from=0&until=3500' || return
    [ "$(answers search 'where=run' | jq -c '[.moments[] | [.goroutine, .label]] | unique')" = '[["1","boss"],["2",null]]' ] && end TERM 0
}

damaged() {
    head -c 6000 app.trace >cut.trace
    serve damaged cut.trace && complete || return
    "$gotrace" stat cut.trace 2>expected >/dev/null
    grep -q '^cut.trace:0x[0-9a-f]*: error: ' damaged.err && diff expected damaged.err &&
        diff <(sed -E 's/^cut.trace:? ?//' expected) <(ask /api/1/trace | jq -r '.problems[]') && end TERM 1 || return
    serve whole --no-recover cut.trace && complete && end TERM 1
}

# fails STATUS PATTERN ARGUMENT...
fails() {
    local expected=$1 pattern=$2 status
    shift 2
    timeout "$HANG" "$gotrace" view "$@" >out 2>err </dev/null
    status=$?
    if [ $status != "$expected" ] || ! grep -q -- "$pattern" err; then
        echo "$*: status $status"
        cat out err
        return 1
    fi
}

not_shown() {
    head -c 1000 /dev/zero >zeros
    fails 3 '^missing: error: ' missing && fails 1 '^zeros:.*: error: ' zeros && fails 1 '^<stdin>:.*: error: ' - &&
        fails 2 'at most 8 traces' a a a a a a a a a && fails 2 'the old one and the new one' --diff a && fails 2 'the old one' --diff a a a &&
        fails 3 '^missing.2: error: ' missing.1 missing.2 && fails 2 'to 65535, not 65536' --port 65536 app.trace &&
        fails 2 'writes no file' -o out.html app.trace && fails 2 'writes no file' --zstd app.trace || return
    "$gotrace" view app.trace >/dev/full 2>err
    [ $? = 3 ] && grep -q 'standard output' err
}

# read COUNT: the traces of the last server.
read_all() {
    local n
    for ((n = 1; n <= $1; n++)); do
        wait_until has .complete "/$n/api/1/trace" || return
    done
}

# The gaps of a trace of which some bytes are zero: where its events were. None if only strings and stacks are lost.
finds_gaps() {
    local place name tenths size begin
    # Places in tenths of the file: four in events, three in strings and stacks.
    for place in go1.19-gc-3 go1.19-gc-5 go1.21-http-1 go1.21-http-9 go1.22-hundreds-3 go1.22-hundreds-5 go1.22-hundreds-9; do
        name=${place%-*} tenths=${place##*-}
        size=$(stat -c %s "$traces/$name.trace") begin=$((size * tenths / 10))
        "$gotrace" print --format jsonl "$traces/$name.trace" >sound.jsonl || return
        { head -c $begin "$traces/$name.trace"; head -c 300 /dev/zero; tail -c +$((begin + 301)) "$traces/$name.trace"; } >holes.trace
        serve gaps -q holes.trace && complete && ask /api/1/trace >gaps.json || return
        "$gotrace" convert -q -o holes.html holes.trace 2>err
        if ! end TERM 1 || ! python3 "$gaps" sound.jsonl $begin $((begin + 300)) gaps.json holes.html; then
            echo "$place"
            return 1
        fi
    done
}

# Also one that is missing, one that is damaged, and one on standard input.
several() {
    local n path names=(app.trace missing '<stdin>' cut.trace)
    head -c 6000 app.trace >cut.trace
    serve several app.trace missing - cut.trace <"$traces/go1.22-cgothread.trace" && read_all 4 || return
    for n in 1 2 3 4; do
        [ "$(ask "/$n/api/1/trace" | jq -r '.files[]')" = "${names[n - 1]}" ] && is 200 "/$n/" && is 200 "/$n/view.js" || return
    done
    diff <(ask /api/1/traces | jq -r '.files[], .compared') <(printf '%s\n' "${names[@]}" false) || return
    has '.failed | startswith("cannot open")' /2/api/1/trace && has '.events == 0 and .problems != []' /2/api/1/trace &&
        has '.failed == null and .events > 1000 and .problems == []' /1/api/1/trace && has '.failed == null and .problems != []' /4/api/1/trace || return
    has '.clock | tonumber > 1e18' /1/api/1/trace && has 'has("clock") | not' /3/api/1/trace && wait_until has .ready /3/api/1/findings || return
    ask / | grep -q panes.js && ask /3/ | diff - "$page/index.html" && has_its_files && is 200 /api/1/diff || return
    for path in /0/ /5/ /9/ /01/ /1 /4 /-1/ /+1/ /1/2/ /1//1/ '/:/' /1/api/1/traces /1/api/1/diff /api/1/trace /1/api/1/ /1/api /0/api/1/trace /5/api/1/trace \
        /1/../../etc/passwd /1/%2e%2e/2/ //1/ /1/1/view.js; do
        is 404 --path-as-is "$path" || return
    done
    ask -o /dev/null -D headers /1/ && grep -q "; frame-src 'self'; .*frame-ancestors 'self'" headers && end TERM 3
}

# As `gotrace diff` does.
compares() {
    serve compared --diff app.trace "$traces/go1.26-lock.trace" && wait_until has '.ready != false' /api/1/diff || return
    "$gotrace" diff --json --all --top 1000 app.trace "$traces/go1.26-lock.trace" >expected || return
    [ "$(wc -l <expected)" -gt 50 ] && diff expected <(ask /api/1/diff) && has .compared /api/1/traces && end TERM 0 || return
    serve uncompared --diff app.trace missing && wait_until has '.ready == false and .failed != null' /api/1/diff && end TERM 3
}

port_in_use() {
    local first
    serve first app.trace || return
    first=$server
    fails 3 "--port $port: another program uses it" --port "$port" app.trace && is 200 / || return
    # It is free as soon as that ends, although connections were open.
    server=$first
    end TERM 0 && serve second --port "$port" app.trace && is 200 / && [ "$(cat second.out)" != "$(cat first.out)" ] && end TERM 0
}

# A browser sends the cookies of both to each.
two_servers() {
    local first first_site first_cookies second_cookies
    serve one app.trace || return
    first=$server first_site=$site
    first_cookies=$cookies
    serve two app.trace || return
    second_cookies=$cookies cookies="$first_cookies; $cookies"
    is 200 / && site=$first_site is 200 / || return
    cookies=$second_cookies
    site=$first_site is 403 / || return
    end TERM 0
    server=$first
    end TERM 0
}

sandboxed() {
    if ! serve boxed --sandbox app.trace; then return 1; fi
    complete && wait_until has .ready /api/1/findings && is 200 / && diff boxed.err /dev/null || return
    ! grep -L '^Seccomp:.2' /proc/"$server"/task/*/status | grep . && end TERM 0
}

# The browser has the address, the limits and the signals that gotrace was started with.
opens_browser() {
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' '{ echo "$1"; ulimit -d; } >browser.new; mv browser.new browser' >browse && chmod +x browse
    BROWSER=$PWD/browse serve opened --open app.trace && wait_until test -e browser &&
        diff browser <(cat opened.out; ulimit -d) && [ ! -s opened.err ] && end TERM 0 || return
    BROWSER=$PWD/missing serve opened --open app.trace && is 200 / && grep -q 'cannot start .*missing' opened.err && end TERM 0
}

hostile() { "$clients" "$1" "$port" "$cookies" && is 200 / && has .complete /api/1/trace; }

check 'a server' serve server app.trace
main=$server
check 'the token becomes a cookie' exchanges_token
check 'the page is restricted' restricts_page
check 'the page has its files' has_its_files
check 'who does not know the token' denies
check 'other hosts' checks_host
check 'other origins' checks_origin
check 'other methods' only_reads
check 'other paths' only_its_files
check 'many arguments' limits_arguments
check 'large requests' limits_requests
check 'other addresses' local_only
check 'index and diagnosis' indexes
check 'answers are those of stat, find and convert' answers_as_verbs
check 'clients that leave' hostile leave
check 'clients that send garbage' hostile garbage
check 'clients at the same time' hostile many
check '1,000 silent connections' hostile silent
server=$main
check 'SIGINT' end INT 0
check 'questions while the trace is read' while_indexing
check 'signals while the trace is read' ends_while_reading
check 'signals' ends
check 'labels of goroutines' labels
check 'a damaged trace' damaged
check 'the gaps of a damaged trace' finds_gaps
check 'what is no trace, and wrong options' not_shown
check 'several traces' several
check '--diff' compares
check 'a port that is in use' port_in_use
check 'two servers' two_servers
check '--open' opens_browser
if nm "$gotrace" | grep -qE '__(asan|tsan)'; then
    skip '--sandbox' 'it denies the work of sanitizers'
else
    check '--sandbox' sandboxed
fi
end_checks
