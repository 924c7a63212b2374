"""Add a range of goroutines, STACK_SCAN, to the tree in the current folder. Prints the files that it changed.

    add_range.py                its row, and those of its events
    add_range.py switches       a case in the switches that the compiler names on standard input: as for no range,
                                only the writer has something to do
"""
import re
import sys

from edits import fragment, insert, replace

ROW = 'X(STACK_SCAN, "stack scan", "GC stack scan", GOROUTINE, GOROUTINE, RANGE, RANGE)'
END = '/* clang-format on */\n\ntypedef enum gotrace_range {'  # of the table
CASE = '    case GOTRACE_RANGE_STACK_SCAN:'
OTHERS = '    case GOTRACE_RANGE_NONE'
WRITER = 'lib/write/v2/writer.c'


def switches(messages):
    named = re.findall(r"^([^:]+):(\d+):\d+: error: enumeration value .GOTRACE_RANGE_STACK_SCAN.", messages, re.M)
    if not named:
        sys.exit('the compiler names no switch')
    # From the last line on, so that the numbers of the others stay right.
    for path, number in sorted(set(named), key=lambda n: (n[0], -int(n[1]))):
        with open(path, encoding='utf-8') as f:
            lines = f.read().split('\n')
        at = next(i for i in range(int(number), len(lines)) if lines[i].startswith(OTHERS))
        writes = ' return enter_running(s) && put_event(s);' if path == WRITER else ''
        lines.insert(at, CASE + writes)
        with open(path, 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines))
        print(path)


if sys.argv[1:] == ['switches']:
    switches(sys.stdin.read())
else:
    replace('lib/gotrace.h', (')\n' + END, f') \\\n    {ROW}\n' + END))
    insert('lib/events_v2.def', ('/* The experiment AllocFree. */', fragment('StackScan.row') + '\n'))
