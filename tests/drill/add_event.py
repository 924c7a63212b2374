"""Add the event GoHandoff to the tree in the current folder. Prints the files that it changed."""
import os
import sys

drill = os.path.dirname(os.path.abspath(__file__))


def fragment(name):
    with open(os.path.join(drill, name), encoding='utf-8') as f:
        return f.read()


def insert(path, *edits):
    """Insert text before the only line that begins with `before`."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    for before, new in edits:
        if text.count('\n' + before) != 1:
            sys.exit(f'{path}: {before!r} is there {text.count(before)} times, not once')
        text = text.replace('\n' + before, '\n' + new + before)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    print(path)


# The event.
insert('lib/events_v2.def', ('/* The experiment AllocFree. */', fragment('GoHandoff.row') + '\n'))
# The program of gen --cover that causes it.
insert('cmd/gen/gen.h', ('    X(SWITCH_END, NULL, "GoSwitchDestroy")',
                         '    X(HANDOFF, NULL, "GoHandoff")' + ' ' * 50 + '\\\n'))
insert('cmd/gen/cover.c',
       ('static void done(gen_sim *s,', fragment('cover.add')),
       ('    if (s->marking)\n        gen_gc_end(s, p);\n    s->cover_done = true;',
        '    if (gen_has(s, GEN_HANDOFF) && !handoff(s, p, g)) {\n'
        '        gen_preempt(s, p, OP_START);\n'
        '        g->pc--; /* and then look again */\n'
        '        return;\n'
        '    }\n'))
