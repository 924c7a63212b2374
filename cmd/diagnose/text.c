/* text.c - a diagnosis for people: the verdict, then at most five findings. */
#include <stdlib.h>
#include <string.h>

#include "cmd/diagnose/report.h"
#include "cmd/human.h"
#include "cmd/names.h"

static void write_duration(void *ctx, int64_t ns)
{
    const diagnose_report *r = ctx;
    char text[24];
    human_duration(text, sizeof text, ns);
    out_str(r->out, text);
}

static void write_name(void *ctx, uint32_t name)
{
    const diagnose_report *r = ctx;
    names_write(r->out, r->names, name);
}

static void write_stack(void *ctx, uint32_t stack)
{
    const diagnose_report *r = ctx;
    names_write_stack(r->out, r->names, stack);
}

static bool write_finding(const diagnose_report *r, const description *to, size_t n)
{
    out *o = r->out;
    const finding *f = &r->d->list[n];
    bool failed;
    char *command = diagnose_command(r, f, &failed);
    out_printf(o, "\n%zu. %s: %s", n + 1, finding_ids[f->cause], finding_titles[f->cause]);
    if (describe_has_cost(f)) {
        out_str(o, ": ");
        describe_cost(to, f);
    }
    out_char(o, '\n');
    for (finding_fact fact = 0; fact < FACT_COUNT; fact++) {
        if (!describe_has(f, fact))
            continue;
        out_str(o, "   ");
        if (fact_labels[fact])
            out_printf(o, "%s: ", fact_labels[fact]);
        describe_fact(to, f, fact);
        out_char(o, '\n');
    }
    if (command)
        out_printf(o, "   next: %s\n", command);
    free(command);
    return !failed;
}

bool diagnose_text(const diagnose_report *r)
{
    const description to = {.out = r->out,
                            .d = r->d,
                            .name = write_name,
                            .stack = write_stack,
                            .duration = write_duration,
                            .ctx = (void *)r};
    const size_t count = r->all                         ? FINDING_CAUSE_COUNT
                         : r->d->count < FINDINGS_SHOWN ? r->d->count
                                                        : FINDINGS_SHOWN;
    bool done = true;
    out_go_text(r->out, r->file, strlen(r->file));
    out_str(r->out, ": ");
    describe_verdict(&to);
    out_char(r->out, '\n');
    for (size_t n = 0; r->d->count == 0 && n < DIAGNOSIS_FIGURES; n++) {
        out_str(r->out, "   ");
        describe_figure(&to, n);
        out_char(r->out, '\n');
    }
    for (size_t n = 0; done && n < count; n++)
        if (r->d->list[n].share > 0 || r->d->list[n].reported)
            done = write_finding(r, &to, n);
    return done;
}
