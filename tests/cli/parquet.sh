# shellcheck shell=bash
# Tables in Parquet files: read back, and compared with what print and stat write.
command -v python3 >/dev/null || skip 'python3 is not installed'
tables() { python3 -B "$TRACES/../../tests/cli/parquet.py" "$@"; }
table() { tables rows "$@"; }

echo '== every table of every trace'
for version in $(all_versions); do
    gotrace gen --go "$version" --cover --events 0 -o "cover-$version.trace"
    gotrace gen --go "$version" --events 3000 -o "gen-$version.trace"
done
mapfile -t samples < <(all_samples)
tables check gotrace "${samples[@]}" ./*.trace
rm ./*.trace

echo '== the columns'
sample go1.26-user.trace
sample go1.19-user.trace
sample go1.19-http.trace
run gotrace convert --to parquet -o one go1.26-user.trace
for file in one/*; do
    echo "$file"
    tables footer "$file"
done
table one/tasks.parquet
table one/logs.parquet time_ns g task category message
table one/g_transitions.parquet | sed -n 1,3p

echo '== with threads and without'
gotrace convert -j 1 --to parquet -o j1 go1.26-user.trace
gotrace convert -j 3 --to parquet -o j3 go1.26-user.trace
gotrace convert --to parquet -o packed - < <(zstd -qc go1.26-user.trace)
diff -r j1 one && diff -r j3 one
table packed/trace.parquet trace file version events

echo '== several traces'
mkdir a b
cp go1.19-user.trace a/x=1.trace
cp go1.26-user.trace b/x=1.trace
run gotrace convert --to parquet -o several go1.19-user.trace go1.26-user.trace go1.19-http.trace
table several/trace.parquet trace version goroutines logs start_unix_ns
table several/logs.parquet trace | uniq -c
run gotrace convert --to parquet -o paths a/x=1.trace b/x=1.trace
table paths/trace.parquet trace
run gotrace convert --to parquet -o twice a/x=1.trace b/../a/x=1.trace a/x=1.trace
run gotrace convert --to parquet --partitions -o parts a/x=1.trace go1.19-http.trace
find parts -type f | sort | head -n 4
table parts/trace/trace=x%3D1.trace/trace.parquet trace version
# Another trace is added.
run gotrace convert --to parquet --partitions -o parts go1.26-user.trace
find parts -name trace.parquet | sort

echo '== a part of a trace'
count() { for name in g_transitions p_transitions goroutines tasks regions logs metrics; do echo "$name $(table "$1/$name.parquet" trace | wc -l)"; done; }
run gotrace convert --to parquet --task 1 -o task go1.26-user.trace
count task
run gotrace convert --to parquet --from 100us --until 200us -o range go1.26-user.trace
count range
table range/g_transitions.parquet end_time_ns | sort -u | sed -n '1p;$p'
run gotrace convert --to parquet --goroutine 4711 -o none go1.26-user.trace

echo '== a world that stops on one proc and starts on another: from 1.10 on'
for version in 9 10; do
    printf 'Trace Go1.%s level=meaning\nProcStart t=0 p=0 thread=1\nProcStart t=1 p=1 thread=2\nSTWStart t=10 p=0\nSTWDone t=20 p=%s\n' \
        $version $((version - 9)) | sed "$([ $version -lt 10 ] || echo 's/^STWStart.*/& kindid=0/')" | gotrace synth -q -o stop.trace --force -
    run gotrace convert --to parquet -o stop$version stop.trace
    table stop$version/ranges.parquet name start_time_ns end_time_ns
done

echo '== names that are not UTF-8'
printf 'Trace Go1.26 level=meaning procs=1\nUserTaskBegin t=1000 on_g=1 task=1 name_string="a\\xff\\xc3b"\n\tstack="m\\x80ain /m.go:1"\nUserLog t=1100 task=1 key_string="" value_string="\\xf0\\x9f\\x99\\x82\\xf0"\n' >odd.script
gotrace synth -o odd.trace odd.script
run gotrace convert --to parquet -o odd odd.trace
table odd/tasks.parquet name
table odd/logs.parquet category message
table odd/frames.parquet function

echo '== damaged traces'
head -c 5000 go1.26-user.trace >cut.trace
run gotrace convert --to parquet -o cut cut.trace
verdict() { table "$1/trace.parquet" trace version events verdict errors warnings recovered lost_bytes; }
verdict cut
head -c 16 go1.26-user.trace >header.trace
run gotrace convert --to parquet -o header header.trace
table header/trace.parquet version events
head -c 600 go1.19-user.trace >cut19.trace
run gotrace convert -q --to parquet --no-recover -o cut19 cut19.trace
verdict cut19
# Each file has a row, also one that cannot be read.
run gotrace convert --to parquet -o not odd.script cut.trace go1.19-user.trace
verdict not
run gotrace convert --to parquet -o missing missing.trace one go1.19-user.trace
verdict missing
run gotrace convert -q --to parquet --partitions -o apart missing.trace odd.script go1.19-user.trace
find apart -name trace.parquet | sort
for folder in apart/trace/*; do verdict "$folder"; done
run gotrace convert --to parquet -o nothing missing.trace
ls -d nothing 2>&1

echo '== what cannot be written'
run gotrace convert --to parquet go1.19-user.trace
run gotrace convert --to parquet -o - go1.19-user.trace
run gotrace convert --to parquet -o odd.script go1.19-user.trace
run gotrace convert --to parquet -o absent/folder go1.19-user.trace
run gotrace convert --to parquet --max-output 1K -o limited go1.19-user.trace
ls -d limited 2>&1
run gotrace convert --to parquet --max-output 1K --partitions -o limited go1.19-user.trace
ls -d limited 2>&1
mkdir -p full/goroutines.parquet
run gotrace convert --to parquet -o full go1.19-user.trace
ls full
ln -sf /dev/full one/tasks.parquet
run gotrace convert --to parquet -o one go1.19-http.trace
table one/trace.parquet trace
run gotrace convert --to perfetto --partitions -o out go1.19-user.trace
run gotrace convert --to parquet --only gc -o out go1.19-user.trace
run gotrace convert --to parquet --gzip -o out go1.19-user.trace
