# shellcheck shell=bash
# gen --defect: every rule can be violated, and validate reports it once, and no other (recovery.sh checks
# what a recovery loses).
rules=$(gotrace gen --defect none 2>&1 | sed -n 's/.*known are: //p' | tr -d ,)

# These are all rules that validate may report, as listed in gotrace(1), except those that another implies.
sed -n '/BEGIN rules/,/END rules/s/^\.It Sy \([a-z.]*\) .*/\1/p' "$TRACES/../../man/gotrace.1" |
    grep -vE '^(system\..*|usage|order\.consequence)$' | sort | diff - <(tr ' ' '\n' <<<"$rules" | sort)

for rule in $rules; do
    broken=
    for go in 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26; do
        gotrace gen --go $go --defect "$rule" --events 1500 -o trace 2>said
        case $? in
        0) ;;
        2) continue ;;
        *) cat said; continue ;;
        esac
        broken="$broken $go"
        # What nothing refers to is reported on request.
        verbose=
        [ "$rule" != table.unused ] || verbose=-v
        # shellcheck disable=SC2086
        gotrace validate $verbose --no-recover --max-errors 100 trace >report 2>&1
        reported=$(sed -n 's/.*\[\([a-z.]*\)\]$/\1/p' report | tr '\n' ' ')
        case $rule in
        order.cut) expected='footer.missing order.cut ' ;;
        *) expected="$rule " ;;
        esac
        [ "$reported" = "$expected" ] || echo "$rule of $go: $reported"
    done
    echo "$rule:$broken"
done

run gotrace gen --defect gc.strat
run gotrace gen --defect range --go 1.21 -o none
run ls none
