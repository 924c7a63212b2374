# shellcheck shell=bash
# 2000 regions with names of 1000 bytes: more than Perfetto's exporter stores (1 MiB), so that it clears
# the incremental state. The first half of the names is repeated at the end.
echo 'Trace Go1.26 level=meaning procs=1'
for ((i = 1; i <= 3000; i++)); do
    printf 'UserRegionBegin t=%d g=1 task=1 name_string="%01000d"\n' $((i * 1000)) $((i % 2000))
    printf 'UserRegionEnd t=%d g=1 task=1 name_string="%01000d"\n' $((i * 1000 + 500)) $((i % 2000))
done
