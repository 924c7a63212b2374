# shellcheck shell=bash
# fuzz/drive.sh classifies the results of a command that is run on variants.
command -v jq >/dev/null || skip 'jq is not installed'
drive() { run "$TRACES/../../fuzz/drive.sh" "$@" | sed '1s,.*/fuzz/,$ ,'; }

sample go1.22-user.trace a.trace
gotrace mutate --keep-valid -n 2 -o variants a.trace
gotrace mutate --break range -o variants a.trace

cat >parser <<'END'
#!/bin/bash
case $1/$(basename "$2") in
takes/*) exit 0 ;;
refuses/*) echo "line 17 is wrong" >&2; exit 1 ;;
right/*.keep-valid.*) exit 0 ;;
right/*) echo "range ends" >&2; exit 1 ;;
crashes/*.0.trace) kill -SEGV $$ ;;
panics/*) printf 'panic: index out of range [%d]\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x/order.go:12 +0x1d\n' $RANDOM >&2; exit 2 ;;
hangs/*.1.trace) sleep 60 ;;
esac
END
chmod +x parser

drive -l list variants ./parser right
cut -f 1-4 list
drive variants ./parser takes
drive variants ./parser refuses {}
drive variants ./parser panics | sed 's/\[[0-9]*\]/[...]/'
before=$(ls variants)
drive -r reduced variants ./parser panics | sed -E 's/\[[0-9]*\]/[...]/; s/, [0-9]+ tests?//'
ls reduced
[ "$before" = "$(ls variants)" ] || ls variants
drive variants ./parser crashes
drive -t 1 variants ./parser hangs
drive missing ./parser
