# shellcheck shell=bash
# mutate: variants, each with its changes and the expected verdict; the same seed gives the same bytes.
sample go1.22-user.trace a.trace
sample go1.19-http.trace b.trace
sample go1.19-user.trace logs.trace # records with data after their values

run gotrace mutate --keep-valid --seed 5 -n 3 -o kept a.trace b.trace
ls kept
gotrace validate -q kept/*.trace
sha256sum kept/*.trace
cat kept/a.keep-valid.5.json

# A seed identifies a variant, whatever other variants are written.
run gotrace mutate --keep-valid --seed 6 -o again a.trace
cmp kept/a.keep-valid.6.trace again/a.keep-valid.6.trace

run gotrace mutate --break gc.start -o broken b.trace
cat broken/b.gc.start.0.json
run gotrace validate broken/b.gc.start.0.trace
run gotrace mutate --break gc.start -o broken a.trace
run gotrace mutate --break generation.number -o broken a.trace
run ls broken

run gotrace mutate --raw --seed 1 -n 2 -o raw - <a.trace
cat raw/trace.raw.1.json raw/trace.raw.2.json
run gotrace mutate --seed 7 -n 2 -o any a.trace
cat any/*.json

gotrace mutate --seed 7 --zstd -o compressed a.trace
zstd -dcq compressed/a.any.7.trace.zst | cmp - any/a.any.7.trace
cut -c 1-30 compressed/a.any.7.json

# The variant of a seed does not change between releases, so that findings can be reproduced.
for how in '' --raw --keep-valid; do
    # shellcheck disable=SC2086
    gotrace mutate $how --seed 100 -n 100 -o many a.trace b.trace logs.trace
    cat many/*.trace | cksum
    cat many/*.json | cksum
    rm -r many
done

# Nothing is replaced without --force.
run gotrace mutate --seed 8 -o any a.trace
run gotrace mutate --seed 8 -o any --force a.trace

run gotrace mutate --raw --keep-valid a.trace
run gotrace mutate --break gc.strat a.trace
run gotrace mutate --keep-valid -o none broken/b.gc.start.0.trace
run gotrace mutate -o none missing.trace
run gotrace mutate -o a.trace b.trace
run gotrace mutate --max-memory 100K -o none b.trace
printf 'no trace' >c
run gotrace mutate -o none c
run gotrace mutate --keep-valid -o none c
run gotrace mutate --break gc.start -o none c
run ls none
