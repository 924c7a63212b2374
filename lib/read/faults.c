#include "read/faults.h"

#include "core/times.h"

enum {
    MOST_REPORTED = 2, /* per class and fault */
    NEAR = 4096,       /* range of bytes after a damaged record in which others are consequences */
};

/* Counts a consequence. */
static bool add(gt_faults *f, uint64_t offset)
{
    if (f->more++ == 0)
        f->offset = offset;
    return true;
}

/* After an unreadable record, the bytes that follow may be misread as other records. */
static bool follows_in_file(gt_faults *f, uint64_t offset)
{
    bool follows = f->damaged && offset >= f->damaged - 1 && offset - (f->damaged - 1) < NEAR;
    f->damaged = offset + 1;
    return follows && add(f, offset);
}

/* The tables of a trace are lost by one fault, also where each generation has its own. */
static bool follows_in_tables(gt_faults *f, bool table, uint64_t offset)
{
    if (f->tables[table] < MOST_REPORTED) {
        f->tables[table]++;
        return false;
    }
    return add(f, offset);
}

/* A generation that is cut off was reported: it lacks events too. */
static bool follows_from_end(gt_faults *f, uint64_t offset)
{
    return f->tables[true] > 0 && add(f, offset);
}

bool gt_faults_follows(gt_faults *f, gotrace_rule rule, uint64_t offset, int64_t now, int64_t gap)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    if (rule == GOTRACE_RULE_EVENT_ARITY || rule == GOTRACE_RULE_BATCH_EVENT)
        return follows_in_file(f, offset);
    if (rule == GOTRACE_RULE_TABLE_REFERENCE || rule == GOTRACE_RULE_GENERATION_END)
        return follows_in_tables(f, rule == GOTRACE_RULE_GENERATION_END, offset);
    if (rule == GOTRACE_RULE_ORDER_CUT)
        return follows_from_end(f, offset);
    bool clocks = info->class_ == GOTRACE_CLASS_CLOCKS;
    if (info->severity != GOTRACE_PROBLEM ||
        (!clocks && info->class_ != GOTRACE_CLASS_INCONSISTENT))
        return false;
    /* Consequences may come late: each time a fault is forgotten, the next takes four times as
     * long. */
    if (f->open && gap > 0 && now > f->last &&
        gt_time_between(f->last, now) >> f->forgotten > gap) {
        f->reported[0] = f->reported[1] = 0;
        if (f->forgotten < 32)
            f->forgotten = (uint8_t)(f->forgotten + 2);
    }
    f->open = true;
    f->age = 0;
    f->last = now;
    if (f->reported[clocks] < MOST_REPORTED) {
        f->reported[clocks]++;
        return false;
    }
    return add(f, offset);
}

bool gt_faults_generation(gt_faults *f)
{
    return f->open && f->age++ > 0;
}

uint64_t gt_faults_close(gt_faults *f, uint64_t *offset)
{
    uint64_t more = f->more;
    *offset = f->offset;
    *f = (gt_faults){.damaged = f->damaged, .tables = {f->tables[0], f->tables[1]}};
    return more;
}
