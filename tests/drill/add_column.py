"""Add two columns of figures to the tree in the current folder: the time that goroutines spend in long waits for a
proc, and the 75th percentile of all values. Prints the files that it changed."""
from edits import replace

LAST = '    X(a, b, SYSCALL_BLOCK, syscall_block_ns, "system call, blocked", 5, "")'
TIME = '    X(a, b, LONG_WAIT, long_wait_ns, "long wait", 7, "Long waits")'
MEDIAN = '    X(median, "median", "Median", histogram_quantile(h, 0.5, zeros))'
VALUE = '    X(p75, "75%", "75 %", histogram_quantile(h, 0.75, zeros))'
WAIT = 't->ns[TIME_SCHED_WAIT] += ns;'

replace('formats/analyse/columns.h', (LAST, f'{LAST} \\\n{TIME}'), (MEDIAN, f'{MEDIAN} \\\n{VALUE}'))
replace('formats/analyse/statistics_run.h', (WAIT, f'{WAIT} t->ns[TIME_LONG_WAIT] += ns >= 1000 ? ns : 0;'))
