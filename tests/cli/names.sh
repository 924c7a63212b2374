# shellcheck shell=bash
# No file name can affect the terminal: control characters and invalid UTF-8 are escaped.
run gotrace validate $'\033[31mred' $'line\nfeed' $'\377broken' 'grün.trace' $'\u202eevil'
run gotrace nothing$'\033'
run gotrace validate --json $'a"b\\c\033'
