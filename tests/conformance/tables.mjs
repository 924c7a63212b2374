// tables.mjs ENGINE FOLDER: one line for each table and column: rows, nulls, and the sum, or for texts the
// least and greatest. ENGINE is duckdb, clickhouse or hyparquet.
// tables.mjs duckdb-query | clickhouse-query | spark-query: runs the queries on standard input. Those for
// Spark must fit its grammar; they are translated, and DuckDB runs them.
import fs from 'fs';
import { register } from 'module';

const [engine, folder] = process.argv.slice(2);
const files = folder ? fs.readdirSync(folder).sort() : [];
const line = (file, column, values) => console.log([file, column, ...values].join('\t'));

async function duckdb() {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    return async (query) => (await connection.runAndReadAll(query)).getRowsJson();
}

async function clickhouse() {
    const { query } = await import('chdb');
    return async (text) => query(text, 'TabSeparated').toString().split('\n').slice(0, -1).map((l) => l.split('\t'));
}

// dt-sql-parser imports folders, and files without their ending.
const RESOLVE = `export async function resolve(name, context, next) {
    const failures = [];
    for (const end of ['', '.js', '/index.js'])
        try { return await next(name + end, context); } catch (e) { failures.push(e); }
    throw failures[0];
}`;

async function spark() {
    register(`data:text/javascript,${encodeURIComponent(RESOLVE)}`);
    const { SparkSQL } = await import('dt-sql-parser');
    const { transpile } = await import('@polyglot-sql/sdk');
    const run = await duckdb();
    return async (query) => {
        const [wrong] = new SparkSQL().validate(`${query.trim()};`);
        if (wrong) throw new Error(`line ${wrong.startLine}: ${wrong.message}`);
        const { sql, error } = transpile(query, 'spark', 'duckdb');
        if (error) throw new Error(error);
        return run(sql[0].replace(/\bparquet\."([^"]*)"/g, "'$1'"));
    };
}

function columnsOf(file) {
    const run = engine === 'duckdb' ? `DESCRIBE SELECT * FROM '${folder}/${file}'`
        : `DESCRIBE file('${folder}/${file}')`;
    return run;
}

async function summarise(run, from) {
    for (const file of files) {
        for (const [column, type] of await run(columnsOf(file))) {
            const text = /VARCHAR|String/.test(type);
            const all = text ? `min(${column}), max(${column})` : `sum(CAST(${column} AS ${from.wide}))`;
            const rows = await run(`SELECT count(*), count(*) - count(${column}), ${all} FROM ${from.table(file)}`);
            line(file, column, rows[0].map((v) => (v === null || v === '\\N' || v === '' ? '-' : v)));
        }
    }
}

async function hyparquet() {
    const { parquetReadObjects, asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet');
    const { compressors } = await import('hyparquet-compressors');
    for (const name of files) {
        const file = await asyncBufferFromFile(`${folder}/${name}`);
        const metadata = await parquetMetadataAsync(file);
        const rows = await parquetReadObjects({ file, compressors });
        for (const { name: column, type } of metadata.schema.slice(1)) {
            const values = rows.map((r) => r[column]).filter((v) => v !== null && v !== undefined);
            const nulls = rows.length - values.length;
            if (type === 'INT64') {
                const sum = values.reduce((a, b) => a + BigInt(b), 0n);
                line(name, column, [rows.length, nulls, values.length ? sum : '-']);
            } else {
                const bytes = values.map((v) => Buffer.from(v)).sort(Buffer.compare);
                const ends = bytes.length ? [bytes[0], bytes[bytes.length - 1]] : ['', ''];
                line(name, column, [rows.length, nulls, ...ends.map((b) => b.toString() || '-')]);
            }
        }
    }
}

if (engine.endsWith('-query')) {
    const run = await { 'duckdb-query': duckdb, 'clickhouse-query': clickhouse, 'spark-query': spark }[engine]();
    for (const query of fs.readFileSync(0, 'utf8').split(';').filter((q) => q.trim()))
        for (const row of await run(query)) console.log(row.map((v) => (v === '\\N' ? '' : v)).join('\t'));
} else if (engine === 'duckdb') {
    await summarise(await duckdb(), { table: (f) => `'${folder}/${f}'`, wide: 'HUGEINT' });
} else if (engine === 'clickhouse') {
    await summarise(await clickhouse(), { table: (f) => `file('${folder}/${f}')`, wide: 'Nullable(Int128)' });
} else {
    await hyparquet();
}
