#!/usr/bin/env bash
# event_codes.sh: print gotrace_events.h, the codes of the events of both formats, from their tables.
# `make codes` writes it; a row without its code does not compile.
set -euo pipefail
cd "$(dirname "$0")"
read -ra cc <<<"${CC:-cc}" # it may have arguments, or be "ccache gcc"

# codes TABLE PREFIX: an enumerator for each row.
codes() {
    {
        echo '#define E(code, name, since, flags, args, summary, does) @row code name since summary'
        echo '#define T(code, name, since, flags, args, summary, does) @row code name since summary'
        echo '#define N(code, name, since, summary) @row code name since summary'
        cat "$1"
    } | "${cc[@]}" -E -P - | tr '\n' ' ' | sed "s/@row /\n/g; s/$/\n/" |
        sed -n "s,^\([0-9]*\) \([A-Za-z]*\) \([0-9]*\) \"\(.*\)\" *\$,    $2_\2 = \1\, /* \4 */,p"
}

cat <<'EOF'
/*
 * gotrace_events.h - codes of the events, as gotrace_event.type and gotrace_event_spec.code have
 * them. Made from events_v1.def and events_v2.def by `make codes`; names are those of Go.
 */
#ifndef GOTRACE_EVENTS_H
#define GOTRACE_EVENTS_H

/* clang-format off */

/* The v1 format: Go 1.5 to 1.21. */
typedef enum gotrace_v1_code {
EOF
codes events_v1.def GOTRACE_V1
cat <<'EOF'
} gotrace_v1_code;

/* The v2 format: Go 1.22 and later. */
typedef enum gotrace_v2_code {
EOF
codes events_v2.def GOTRACE_V2
cat <<'EOF'
} gotrace_v2_code;

/* The first versions of v2 whose batches and generations differ. */
enum {
    GOTRACE_FIRST_EXPERIMENTS = 23, /* batches of data of experiments */
    GOTRACE_FIRST_SYNC = 25, /* Sync begins a generation's clocks; before, a Frequency is all */
    GOTRACE_FIRST_GENERATION_END = 26, /* EndOfGeneration ends a generation */
};

/* clang-format on */

#endif
EOF
