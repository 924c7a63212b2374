/* text.c - a diagnosis for people: the verdict, then at most five findings. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diagnose/report.h"
#include "cmd/human.h"
#include "cmd/names.h"
#include "formats/common/plural.h"

/* With seven lines each, and the verdict, less than 40. */
enum { MOST_SHOWN = 5, DURATION = 24 };

const char *diagnose_activity(uint8_t kind)
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

static void text_duration(out *o, int64_t ns)
{
    char text[DURATION];
    human_duration(text, sizeof text, ns);
    out_str(o, text);
}

/* ---- evidence -----------------------------------------------------------------------------------
 */

static void text_name(const diagnose_report *r, uint32_t name)
{
    names_write(r->out, r->m->stacks, name);
}

static void text_count(const diagnose_report *r, uint64_t count, const char *what)
{
    out_printf(r->out, "   %" PRIu64 " %s%s", count, what, plural(count));
}

static void text_waits(const diagnose_report *r, const finding *f, const char *what)
{
    out *o = r->out;
    text_count(r, f->count, what);
    if (f->function) {
        out_str(o, " in ");
        text_name(r, f->function);
    }
    if (f->cause == FINDING_LOCK && f->during_share > 0) {
        out_printf(o, ", whose holder %s meanwhile (%.0f %% of the time)", predicate(f->during),
                   100 * f->during_share);
        if (f->during > DO_RUNNABLE && f->other_stack) {
            out_str(o, "\n   the holder: ");
            names_write_stack(o, r->m->stacks, f->other_stack);
        }
    }
}

static void text_stage(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    if (f->stack) {
        text_waits(r, f, "wait");
        out_printf(o, " for goroutines of the same function, %.1f at a time, one of which %s",
                   f->waiting, predicate(f->during));
        return;
    }
    out_str(o, "   ");
    text_name(r, f->function);
    out_printf(o, ", %.1f goroutine%s, busy %.0f %% of the time; ", f->rate,
               f->rate > 1.05 ? "s" : "", 100 * f->level);
    text_name(r, f->other);
    out_printf(o, " and others waited for it %" PRIu64 " times", f->count);
}

static void text_collector(const diagnose_report *r, const finding *f)
{
    text_count(r, f->count, "cycle");
    out_printf(r->out, ", %.1f a second", f->rate);
    if (f->level > 0)
        out_printf(r->out, "; the heap goal is %.0f %% above the live heap", 100 * f->level);
}

static void text_leak(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    text_count(r, f->count, "goroutine");
    out_str(o, " of ");
    text_name(r, f->function);
    out_str(o, ", created by ");
    text_name(r, f->other);
    out_printf(o, ", do not end: %.1f more each second", f->rate);
}

static void text_silences(const diagnose_report *r, const finding *f)
{
    text_count(r, f->count, "time");
    out_str(r->out, " nothing happened for more than 22 ms though a goroutine ran or could run");
    if (f->period == 0)
        return;
    out_str(r->out, ", every ");
    text_duration(r->out, f->period);
    out_str(r->out, f->period > 90 * 1000 * 1000 && f->period < 110 * 1000 * 1000
                        ? " (the period of a CPU quota)"
                        : "");
}

static void text_evidence(const diagnose_report *r, const finding *f)
{
    out *o = r->out;
    switch ((finding_cause)f->cause) {
    case FINDING_LOCK:
    case FINDING_NETWORK:
    case FINDING_TIMER: text_waits(r, f, "wait"); break;
    case FINDING_SYSCALL: text_waits(r, f, "call"); break;
    case FINDING_CHANNEL: text_stage(r, f); break;
    case FINDING_GC_CPU: text_collector(r, f); break;
    case FINDING_LEAK: text_leak(r, f); break;
    case FINDING_FROZEN: text_silences(r, f); break;
    case FINDING_STOP:
        text_count(r, f->count, "stop");
        out_str(o, ", most of the time for: ");
        text_name(r, f->other);
        break;
    case FINDING_CHURN:
        text_count(r, f->count, "run");
        out_str(o, " of ");
        text_name(r, f->function);
        out_printf(o, " take less than 10 us on average, %.0f a second", f->rate);
        break;
    case FINDING_STORM:
        text_count(r, f->count, "wake-up");
        out_printf(o, " (%.0f %%) found nothing to do, at the Cond in ", 100 * f->level);
        text_name(r, f->function);
        break;
    case FINDING_CPU:
        out_printf(o, "   the procs run goroutines %.0f %% of the time", 100 * r->d->busy);
        break;
    case FINDING_IDLE:
        out_str(o, "   goroutines are runnable for longer than a wake-up takes while procs are "
                   "idle");
        break;
    case FINDING_GC_ASSIST:
        out_str(o, "   goroutines that allocate have to do work of the collector first");
        break;
    case FINDING_LIMITS:
        out_str(o, "   record a second or more, while the program does what is to be diagnosed");
        break;
    case FINDING_CAUSE_COUNT: break;
    }
    out_char(o, '\n');
}

/* ---- findings -----------------------------------------------------------------------------------
 */

static void text_share(const diagnose_report *r, const finding *f)
{
    if (f->share > 0)
        out_printf(r->out, ": %.0f %% %s", 100 * f->share, finding_bases[f->of]);
}

static bool text_finding(const diagnose_report *r, size_t n, const finding *f)
{
    out *o = r->out;
    bool failed;
    char *command = diagnose_command(r, f, &failed);
    out_printf(o, "\n%zu. %s: %s", n + 1, finding_ids[f->cause], finding_titles[f->cause]);
    text_share(r, f);
    if (f->ns > 0) {
        out_str(o, ", ");
        text_duration(o, f->ns);
    }
    out_char(o, '\n');
    text_evidence(r, f);
    if (f->stack) {
        out_str(o, "   at: ");
        names_write_stack(o, r->m->stacks, f->stack);
        out_char(o, '\n');
    }
    if (f->longest > 0) {
        out_str(o, "   the longest: ");
        text_duration(o, f->longest);
        out_str(o, " at ");
        text_duration(o, f->at);
        if (f->goroutine)
            out_printf(o, ", goroutine %" PRIu64, f->goroutine);
        out_char(o, '\n');
    }
    if (command)
        out_printf(o, "   next: %s\n", command);
    free(command);
    return !failed;
}

static void text_verdict(const diagnose_report *r)
{
    out *o = r->out;
    const diagnosis *d = r->d;
    out_go_text(o, r->file, strlen(r->file));
    if (d->count) {
        out_printf(o, ": %s", finding_titles[d->list[0].cause]);
        text_share(r, &d->list[0]);
        out_char(o, '\n');
        return;
    }
    out_str(o, ": nothing stands out\n");
    out_printf(o, "   the procs run goroutines %.0f %% of the time\n", 100 * d->busy);
    out_printf(o, "   goroutines that could run wait for a proc %.0f %% of that time\n",
               100 * d->ready);
    out_printf(o, "   the garbage collector takes %.0f %% of the procs\n", 100 * d->gc);
}

bool diagnose_text(const diagnose_report *r)
{
    const size_t count = r->all                     ? FINDING_CAUSE_COUNT
                         : r->d->count < MOST_SHOWN ? r->d->count
                                                    : MOST_SHOWN;
    bool done = true;
    text_verdict(r);
    for (size_t i = 0; done && i < count; i++)
        if (r->d->list[i].share > 0 || r->d->list[i].reported)
            done = text_finding(r, i, &r->d->list[i]);
    return done;
}
