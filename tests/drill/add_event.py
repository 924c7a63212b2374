"""Add the event GoHandoff to the tree in the current folder. Prints the files that it changed."""
from edits import fragment, insert

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
