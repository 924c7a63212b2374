# shellcheck shell=bash
# Functions for scripts that build Go programs with each toolchain. A toolchain is gccgo, or goX
# (go1.19) below $GOTRACE_PEERS/usr/lib.

peers=${GOTRACE_PEERS:-$HOME/.cache/gotrace-peers}

has_toolchain() { # TOOLCHAIN
    if [ "$1" = gccgo ]; then
        command -v gccgo-12 >/dev/null
    else
        [ -x "$peers/usr/lib/go-${1#go}/bin/go" ]
    fi
}

# Prints those that are installed.
list_toolchains() {
    local go
    ! has_toolchain gccgo || echo gccgo
    for go in "$peers"/usr/lib/go-1.*; do
        ! has_toolchain "go${go##*/go-}" || echo "go${go##*/go-}"
    done
}

# RECORD_CACHE is the folder of compiled packages. gccgo ignores build tags, and others build named
# files whatever their tags are.
build_program() { # TOOLCHAIN FOLDER PROGRAM SOURCE...
    local toolchain=$1 folder=$2 program=$3
    shift 3
    if [ "$toolchain" = gccgo ]; then
        (cd "$folder" && gccgo-12 -O1 -g "-fdebug-prefix-map=$folder=recorder" -o "$program" "$@")
    else
        (cd "$folder" && GOCACHE=$RECORD_CACHE GOTOOLCHAIN=local GO111MODULE=off GOFLAGS='' CGO_ENABLED=1 \
            "$peers/usr/lib/go-${toolchain#go}/bin/go" build -trimpath -o "$program" "$@")
    fi
}
