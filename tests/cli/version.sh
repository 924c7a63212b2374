# shellcheck shell=bash
gotrace version
gotrace --version | cmp - <(gotrace version)
gotrace version --json
