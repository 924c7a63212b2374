# programs.bash: programs of Debian (in C, C++, Rust, Python, JavaScript and Perl) that are recorded, by programs.sh and
# bench/run.sh.
# shellcheck shell=bash disable=SC2034

# THREADS|COMMAND|FILTER: it creates at least so many threads; its output, through the filter if there is one, is always
# the same.
PROGRAMS=(
    '4|pigz -p 4 -c numbers|'
    '4|zstd -q -T4 -9 -c numbers|'
    '4|rg -j 4 --count-matches [0-9]9 --glob numbers-*|sort'
    '2|xz -0 -T2 --block-size=1MiB -c numbers|'
    '2|sort --parallel=2 -S 50M -r numbers|'
    '1|bzip2 -c some|'
    '1|gzip -c some|'
    "1|perl -e 'for (1 .. 10000000) { \$s += \$_ % 7 } print qq(\$s\\n); exit 3'|"
    "1|sqlite3 :memory: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000) SELECT sum(x * x) FROM c'|"
    '5|/usr/bin/python3 threads.py|'
    '5|node threads.js|'
    '8|./pool|'
)

# Writes what they read to the current folder.
prepare_programs() {
    seq 2000000 >numbers
    head -c 6000000 numbers >some
    for i in {1..200}; do seq "$i" 10000 >"numbers-$i"; done
    cat >threads.py <<'END'
import hashlib, threading
digests = {}
def work(n):
    digest = b'%d' % n
    for _ in range(150):
        digest = hashlib.sha256(digest * 20000).digest()
    digests[n] = digest.hex()
threads = [threading.Thread(target=work, args=[n]) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(digests.items()))
END
    cat >threads.js <<'END'
const { pbkdf2Sync } = require('crypto');
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
    new Worker(__filename).on('message', (key) => { console.log(key); process.exitCode = 3; });
} else {
    parentPort.postMessage(pbkdf2Sync('password', 'salt', 500000, 32, 'sha256').toString('hex'));
}
END
    cat >pool.cc <<'END'
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
int main() {
    std::mutex mutex;
    std::condition_variable ready;
    int waiting = 0;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&, i] {
            std::unique_lock<std::mutex> lock(mutex);
            if (++waiting == 8)
                ready.notify_all();
            ready.wait(lock, [&] { return waiting == 8; });
            try {
                throw std::runtime_error("caught");
            } catch (const std::runtime_error &) {
                sum += i;
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", sum);
    return 7;
}
END
    c++ -O1 -pthread -o pool pool.cc 2>/dev/null
}
