#!/usr/bin/env bash
# tables.sh: DuckDB, ClickHouse and hyparquet read the tables of 100 generated traces of all versions, and of the
# samples, alike, and as many rows as print and stat write; they use the statistics; the queries of gotrace-parquet(5) run.
set -u
# shellcheck disable=SC1091
. "$(dirname "$0")/lib.sh"
export TRACE_NAME=gen/tables
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

have_readers || { skip 'Parquet readers' "no npm packages in $TABLES_HOME"; exit; }
ln -s "$TABLES_HOME/node_modules" "$WORK/node_modules"
cp "$CONFORMANCE/tables.mjs" "$WORK/tables.mjs"
cd "$WORK" || exit 1
reader() { node tables.mjs "$@"; }

versions=(5 7 8 9 10 11 19 21 22 23 25 26)
traces=()
for ((i = 0; i < 100; i++)); do
    "$GOTRACE" gen --go "1.${versions[i % 12]}" --seed "$i" --events 300 -o "gen-$i.trace" 2>/dev/null
    traces+=("gen-$i.trace")
done
"$GOTRACE" convert -q --to parquet -o many "${traces[@]}" 2>log
fail_if $? '100 traces in one folder' 'convert failed' log
"$GOTRACE" convert -q --to parquet -o samples "$ROOT"/testdata/traces/*.trace >log 2>&1

for folder in many samples; do
    reader duckdb $folder >rows.duckdb 2>&1
    reader clickhouse $folder >rows.clickhouse 2>&1
    reader hyparquet $folder >rows.hyparquet 2>&1
    [ "$(cut -f 1 rows.duckdb | uniq | wc -l)" -eq 12 ]
    fail_if $? "DuckDB reads the tables of $folder" "not all" rows.duckdb
    same "ClickHouse reads what DuckDB does ($folder)" rows.duckdb rows.clickhouse
    same "hyparquet reads what DuckDB does ($folder)" rows.duckdb rows.hyparquet
done

# A file that is not a trace, and a damaged one, have a row.
echo text >text
head -c 3000 gen-11.trace >cut.trace
"$GOTRACE" convert -q --to parquet -o verdicts gen-10.trace cut.trace text missing 2>/dev/null
for trace in gen-10.trace cut.trace text missing; do
    printf '%s\t%s\n' $trace "$("$GOTRACE" validate --json $trace 2>/dev/null | jq -r 'select(.type == "trace") |
        [.verdict, .errors, .warnings, .version != null] | map(tostring) | join("\t")')"
done | sort >validate.rows
reader duckdb-query >duckdb.rows <<<"SELECT trace, verdict, errors, warnings, version IS NOT NULL
    FROM 'verdicts/trace.parquet' ORDER BY 1"
same 'verdicts are those of validate' validate.rows duckdb.rows

# As many transitions as print has, and the time of goroutines that stat has.
for trace in "${traces[@]}"; do
    printf '%s\t%s\n' "$trace" "$("$GOTRACE" stat --json --each "$trace" 2>/dev/null |
        jq -s 'map(select(.kind == "goroutine").exec_ns) | add // 0')"
done | sort >stat.running
reader duckdb-query >duckdb.running <<<"SELECT t.trace, coalesce(sum(g.duration_ns) FILTER (from_state = 'running'), 0)
    FROM 'many/trace.parquet' t LEFT JOIN 'many/g_transitions.parquet' g ON g.trace = t.trace GROUP BY ALL ORDER BY 1"
sort -o duckdb.running duckdb.running
same 'the time in which goroutines run is that of stat' stat.running duckdb.running
for trace in gen-{8,9,10,11}.trace; do
    printf '%s\t%s\n' "$trace" "$("$GOTRACE" print --format jsonl "$trace" 2>/dev/null | jq -c \
        'select(.kind == "transition" and .resource == "goroutine" and .from != .to)' | wc -l)"
done | sort >print.rows
reader duckdb-query >duckdb.rows <<<"SELECT trace, count(*) FROM 'many/g_transitions.parquet'
    WHERE to_state IS NOT NULL AND trace IN ('gen-8.trace', 'gen-9.trace', 'gen-10.trace', 'gen-11.trace') GROUP BY ALL"
sort -o duckdb.rows duckdb.rows
same 'there are as many transitions as print has' print.rows duckdb.rows

# A query for a part of the time reads one row group of several.
"$GOTRACE" gen --go 1.26 --events 600000 -o big.trace
"$GOTRACE" convert -q --to parquet -o big big.trace
reader clickhouse-query >pruned <<<"SELECT count() FROM file('big/g_transitions.parquet') WHERE end_time_ns < 1000000;
    SELECT value FROM system.events WHERE event IN ('ParquetReadRowGroups', 'ParquetPrunedRowGroups') ORDER BY event"
[ "$(sed -n 2p pruned)" -ge 3 ] && [ "$(sed -n 3p pruned)" -eq 1 ]
fail_if $? 'statistics let a query skip row groups' 'it read more' pruned

# Partitions are columns.
"$GOTRACE" convert -q --to parquet --partitions -o parts gen-8.trace gen-9.trace
for engine in duckdb clickhouse; do
    case $engine in
    duckdb) from="read_parquet('parts/g_transitions/*/*.parquet', hive_partitioning = true)" ;;
    *) from="file('parts/g_transitions/*/*.parquet')" ;;
    esac
    reader $engine-query <<<"SELECT trace, count(*) FROM $from WHERE to_state IS NOT NULL GROUP BY ALL" | sort >parts.rows
    grep -E '^gen-[89]\.' print.rows | cmp -s - parts.rows
    fail_if $? "$engine reads partitions" 'other rows' parts.rows
done

# The queries of gotrace-parquet(5): each engine answers each, with the same rows. Those for Spark are not run by
# Spark, but parsed with its grammar, and run translated to DuckDB's.
for trace in go1.19-http go1.26-user; do cp "$ROOT/testdata/traces/$trace.trace" .; done
"$GOTRACE" convert -q --to parquet -o tables go1.19-http.trace go1.26-user.trace
for engine in duckdb clickhouse spark; do
    sed -n '/^\.\\" BEGIN '$engine'$/,/^\.\\" END/{/^\./!p}' "$ROOT/man/gotrace-parquet.5" >$engine.sql
    [ "$(grep -c ';' $engine.sql)" -eq 4 ] && reader $engine-query <$engine.sql >$engine.rows 2>&1
    fail_if $? "the queries of gotrace-parquet(5) for $engine" 'they fail' $engine.rows
    awk '{ $NF = ""; print }' FS='\t' OFS='\t' $engine.rows | sort >$engine.names
done
same 'they give the same rows' duckdb.names clickhouse.names
same 'those for Spark, translated, give the same rows' duckdb.names spark.names
