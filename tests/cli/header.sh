# shellcheck shell=bash
# A header truncated after each of its bytes, and a header alone.
for size in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    printf 'go 1.19 trace\000\000\000' | head -c $size >"cut$size"
    run gotrace validate "cut$size"
done
# Almost valid headers.
printf 'go 1.19 trace\000\000\001' >padding
printf 'go 1.19 trAce\000\000\000' >letter
printf 'go 1.019 trace\000\000' >zero
printf 'go 1.  trace\000\000\000\000' >none
printf 'go 1.99999999999999999999' >huge
run gotrace validate padding letter zero none huge
