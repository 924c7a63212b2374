/* describe.c - a diagnosis in words. */
#include "formats/diagnose/describe.h"

#include <inttypes.h>

#include "formats/common/plural.h"

const char *describe_activity(uint8_t kind)
{
    static const char *const names[DO_KINDS] = {
        [DO_RUN] = "running",
        [DO_ASSIST] = "GC mark assist",
        [DO_RUNNABLE] = "runnable",
        [DO_SYSCALL] = "system call",
        [DO_LOCK] = "lock",
        [DO_JOIN] = "WaitGroup",
        [DO_COND] = "Cond",
        [DO_CHANNEL] = "channel",
        [DO_NETWORK] = "network",
        [DO_SLEEP] = "sleep",
        [DO_GC] = "garbage collection",
        [DO_OTHER] = "other",
    };
    return names[kind];
}

/* "runs", "waits for the network", ...: what a goroutine does. */
static const char *predicate(uint8_t kind)
{
    static const char *const texts[DO_KINDS] = {
        [DO_RUN] = "runs",
        [DO_ASSIST] = "assists the garbage collector",
        [DO_RUNNABLE] = "is runnable, but has no proc",
        [DO_SYSCALL] = "is in a system call",
        [DO_LOCK] = "waits for another lock",
        [DO_JOIN] = "waits for a WaitGroup",
        [DO_COND] = "waits for a Cond",
        [DO_CHANNEL] = "waits for a channel",
        [DO_NETWORK] = "waits for the network",
        [DO_SLEEP] = "sleeps",
        [DO_GC] = "waits for the garbage collector",
        [DO_OTHER] = "waits",
    };
    return texts[kind];
}

/* ---- evidence -----------------------------------------------------------------------------------
 */

static void put_count(const description *to, uint64_t count, const char *what)
{
    out_printf(to->out, "%" PRIu64 " %s%s", count, what, plural(count));
}

static void put_waits(const description *to, const finding *f, const char *what)
{
    out *o = to->out;
    put_count(to, f->count, what);
    if (f->function) {
        out_str(o, " in ");
        to->name(to->ctx, f->function);
    }
    if (f->cause == FINDING_LOCK && f->during_share > 0) {
        out_printf(o, ", whose holder %s", predicate(f->during));
        if (describe_has(f, FACT_HOLDER)) {
            out_str(o, " in ");
            to->name(to->ctx, f->other);
        }
        out_printf(o, " meanwhile (%.0f %% of the time)", 100 * f->during_share);
    }
}

static void put_stage(const description *to, const finding *f)
{
    out *o = to->out;
    if (f->stack) {
        put_waits(to, f, "wait");
        out_printf(o, " for goroutines of the same function, %.1f at a time, one of which %s",
                   f->waiting, predicate(f->during));
        return;
    }
    to->name(to->ctx, f->function);
    out_printf(o, ", %.1f goroutine%s, busy %.0f %% of the time; ", f->rate,
               f->rate > 1.05 ? "s" : "", 100 * f->level);
    to->name(to->ctx, f->other);
    out_printf(o, " and others waited for it %" PRIu64 " times", f->count);
}

static void put_collector(const description *to, const finding *f)
{
    put_count(to, f->count, "cycle");
    out_printf(to->out, ", %.1f a second", f->rate);
    if (f->level > 0)
        out_printf(to->out, "; the heap goal is %.0f %% above the live heap", 100 * f->level);
}

static void put_leak(const description *to, const finding *f)
{
    out *o = to->out;
    put_count(to, f->count, "goroutine");
    out_str(o, " of ");
    to->name(to->ctx, f->function);
    out_str(o, ", created by ");
    to->name(to->ctx, f->other);
    out_printf(o, ", do not end (%.0f others did): %.1f more each second", f->level, f->rate);
}

/* "goroutine 3 waits for mutex 0x7f10 held by goroutine 4, which waits for ..." */
static void put_deadlock(const description *to, const finding *f)
{
    out *o = to->out;
    const size_t more = f->deadlock.length > MOST_IN_CYCLE ? f->deadlock.length - MOST_IN_CYCLE : 0;
    for (size_t n = 0; n < f->deadlock.length - more; n++) {
        if (n == 0)
            out_printf(o, "goroutine %" PRIu64, f->deadlock.cycle[n].goroutine);
        out_str(o, n == 0 ? " waits for " : ", which waits for ");
        to->name(to->ctx, f->deadlock.cycle[n].waits_for);
    }
    if (more > 0)
        out_printf(o, ", and so on: %zu goroutines", f->deadlock.length);
    if (f->count > f->deadlock.length)
        out_printf(o, "; %" PRIu64 " other%s wait%s for them or for each other",
                   f->count - f->deadlock.length, plural(f->count - f->deadlock.length),
                   f->count - f->deadlock.length == 1 ? "s" : "");
}

/* "goroutine 3: pthread_mutex_lock < main; ..." */
static void put_cycle_stacks(const description *to, const finding *f)
{
    for (size_t n = 0; n < f->deadlock.length && n < MOST_IN_CYCLE; n++) {
        out_printf(to->out, "%sgoroutine %" PRIu64 ": ", n > 0 ? "; " : "",
                   f->deadlock.cycle[n].goroutine);
        to->stack(to->ctx, f->deadlock.cycle[n].stack);
    }
}

static void put_silences(const description *to, const finding *f)
{
    put_count(to, f->count, "time");
    out_str(to->out, " nothing happened for more than 22 ms though a goroutine ran or could run");
    if (f->period == 0)
        return;
    out_str(to->out, ", every ");
    to->duration(to->ctx, f->period);
    out_str(to->out, f->period > 90 * 1000 * 1000 && f->period < 110 * 1000 * 1000
                         ? " (the period of a CPU quota)"
                         : "");
}

static void put_evidence(const description *to, const finding *f)
{
    out *o = to->out;
    switch ((finding_cause)f->cause) {
    case FINDING_DEADLOCK: put_deadlock(to, f); break;
    case FINDING_LOCK:
    case FINDING_NETWORK:
    case FINDING_TIMER: put_waits(to, f, "wait"); break;
    case FINDING_SYSCALL: put_waits(to, f, "call"); break;
    case FINDING_CHANNEL: put_stage(to, f); break;
    case FINDING_GC_CPU: put_collector(to, f); break;
    case FINDING_LEAK: put_leak(to, f); break;
    case FINDING_FROZEN: put_silences(to, f); break;
    case FINDING_STOP:
        put_count(to, f->count, "stop");
        out_str(o, ", most of the time for: ");
        to->name(to->ctx, f->other);
        break;
    case FINDING_CHURN:
        put_count(to, f->count, "run");
        out_str(o, " of ");
        to->name(to->ctx, f->function);
        out_printf(o, " take less than 10 us on average, %.0f a second", f->rate);
        break;
    case FINDING_STORM:
        put_count(to, f->count, "wake-up");
        out_printf(o, " (%.0f %%) found nothing to do, at the Cond in ", 100 * f->level);
        to->name(to->ctx, f->function);
        break;
    case FINDING_CPU:
        out_printf(o, "the procs run goroutines %.0f %% of the time", 100 * to->d->busy);
        break;
    case FINDING_IDLE:
        out_str(o, "goroutines are runnable for longer than a wake-up takes while procs are "
                   "idle");
        break;
    case FINDING_GC_ASSIST:
        out_str(o, "goroutines that allocate have to do work of the collector first");
        break;
    case FINDING_LIMITS:
        out_str(o, "record a second or more, while the program does what is to be diagnosed");
        break;
    case FINDING_CAUSE_COUNT: break;
    }
}

/* ---- findings -----------------------------------------------------------------------------------
 */

const char *const fact_labels[FACT_COUNT] = {
    [FACT_HOLDER] = "the holder",
    [FACT_STACK] = "at",
    [FACT_CYCLE] = "at",
    [FACT_LONGEST] = "the longest",
};

bool describe_has(const finding *f, finding_fact fact)
{
    switch (fact) {
    case FACT_EVIDENCE: return true;
    case FACT_HOLDER:
        return f->cause == FINDING_LOCK && f->during_share > 0 && f->during > DO_RUNNABLE &&
               f->other_stack;
    case FACT_STACK: return f->stack && f->cause != FINDING_DEADLOCK;
    case FACT_CYCLE: return f->deadlock.length > 0;
    case FACT_LONGEST: return f->longest > 0;
    case FACT_COUNT: break;
    }
    return false;
}

void describe_fact(const description *to, const finding *f, finding_fact fact)
{
    switch (fact) {
    case FACT_EVIDENCE: put_evidence(to, f); break;
    case FACT_HOLDER: to->stack(to->ctx, f->other_stack); break;
    case FACT_STACK: to->stack(to->ctx, f->stack); break;
    case FACT_CYCLE: put_cycle_stacks(to, f); break;
    case FACT_LONGEST:
        to->duration(to->ctx, f->longest);
        out_str(to->out, " at ");
        to->duration(to->ctx, f->at);
        if (f->goroutine)
            out_printf(to->out, ", goroutine %" PRIu64, f->goroutine);
        break;
    case FACT_COUNT: break;
    }
}

static void put_share(const description *to, const finding *f)
{
    out_printf(to->out, "%.0f %% %s", 100 * f->share, finding_bases[f->of]);
}

bool describe_has_cost(const finding *f)
{
    return f->share > 0 || f->ns > 0;
}

void describe_cost(const description *to, const finding *f)
{
    if (f->share > 0)
        put_share(to, f);
    if (f->ns > 0) {
        out_str(to->out, f->share > 0 ? ", " : "");
        to->duration(to->ctx, f->ns);
    }
}

void describe_verdict(const description *to)
{
    const finding *f = to->d->list;
    out_str(to->out, to->d->count ? finding_titles[f->cause] : "nothing stands out");
    if (to->d->count && f->share > 0) {
        out_str(to->out, ": ");
        put_share(to, f);
    }
}

void describe_figure(const description *to, size_t n)
{
    static const char *const texts[DIAGNOSIS_FIGURES] = {
        "the procs run goroutines %.0f %% of the time",
        "goroutines that could run wait for a proc %.0f %% of that time",
        "the garbage collector takes %.0f %% of the procs",
    };
    const diagnosis *d = to->d;
    const double shares[DIAGNOSIS_FIGURES] = {d->busy, d->ready, d->gc};
    out_printf(to->out, texts[n], 100 * shares[n]);
}
