# shellcheck shell=bash
# No file name can act on the terminal: control characters and broken UTF-8 are shown escaped.
run gotrace validate $'\033[31mred' $'line\nfeed' $'\377broken' 'grün.trace' $'\u202eevil'
run gotrace nothing$'\033'
run gotrace validate --json $'a"b\\c\033'
