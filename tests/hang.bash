# shellcheck shell=bash
# A limit against hangs, in seconds, which is the same for every test: no test measures time. It is at least 20 times
# what the slowest test takes on a quiet machine, because a busy machine or a sanitizer may take ten times as long.
export HANG=${HANG:-3600}
