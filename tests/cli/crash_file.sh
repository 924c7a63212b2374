# shellcheck shell=bash
# Files that begin as a crash file and are none: repair says what is wrong, and writes nothing. (Real ones
# are those of crash.c in gotrace_record(3) and of tests/unit/test_record_crash_file.c.)
head_of() { printf 'gotrace crash\n\032\0'; head -c "${1:-0}" /dev/zero; }
head_of >magic
head_of 4096 >zeros
{ head_of; printf '\2\0\0\0\0\0\0\0'; head -c 4000 /dev/zero; } >none
{ head_of; printf '\2\0\0\0\0\0\0\0'; head -c 16 /dev/zero; printf '\032\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1'; head -c 4000 /dev/zero; } >short
for file in magic zeros none short; do
    run gotrace repair -o out $file
    [ ! -e out ] || echo 'something is written'
done
run gotrace info magic
