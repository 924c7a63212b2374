# shellcheck shell=bash
# Every verb that reads traces distinguishes files that are not traces.
: >empty
echo 'Hello, this is no trace, but long enough to hold a header.' >text
printf '\377\330\377\340\000\020JFIF\000\001\001\000\000\001\000\001\000\000\377\333' >photo.jpg
mkdir directory
for verb in validate info print dump 'convert --to perfetto' 'convert --to chrome'; do
    for file in empty text photo.jpg directory missing; do
        # shellcheck disable=SC2086
        run gotrace $verb $file
    done
done
run gotrace synth directory
run gotrace synth missing
run gotrace validate --json empty text directory missing
run gotrace validate -q empty text directory missing
run gotrace info --json empty

# Nothing was read: no file is written, and an existing one is unchanged.
echo kept >there
for verb in dump print info 'convert --to perfetto' 'convert --to chrome --zstd' 'convert --to go1.20'; do
    for file in empty text; do
        # shellcheck disable=SC2086
        gotrace $verb -q $file -o new 2>/dev/null && echo "$verb $file: taken"
        # shellcheck disable=SC2086
        gotrace $verb -q $file -o there 2>/dev/null && echo "$verb $file: taken"
        [ ! -e new ] || { echo "$verb $file: leaves a file"; rm new; }
        [ "$(cat there)" = kept ] || { echo "$verb $file: what was there is lost"; echo kept >there; }
    done
done
