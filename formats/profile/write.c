/* write.c - what the formats of profiles share. */
#include "formats/profile/write.h"

#include <errno.h>
#include <stdlib.h>

/* What a series keeps from trace to trace. */
typedef struct profile_series {
    profile profile;
    bool stopped; /* matching a name reached a limit: nothing is written */
} profile_series;

static void end_profile(const convert_job *job, profile *p, bool writes,
                        void (*write)(const convert_job *job, const profile *p))
{
    p->failed |= p->stacks && p->stacks->failed;
    if (writes && !p->failed)
        write(job, p);
    if (p->failed)
        out_fail(job->out, ENOMEM);
    if (job->empty)
        *job->empty = p->count == 0;
    profile_free(p);
}

static gotrace_status add_to_series(const convert_job *job, const profile_options *options,
                                    bool divide)
{
    profile_series *s = job->series->state;
    if (!s)
        s = job->series->state = calloc(1, sizeof *s);
    if (!s) {
        out_fail(job->out, ENOMEM);
        return GOTRACE_END;
    }
    gotrace_status status = profile_make(&s->profile, job->reader, options);
    s->stopped |= job->select && job->select->too_hard;
    if (divide && !s->profile.failed)
        profile_divide(&s->profile, job->path);
    return status;
}

gotrace_status profile_convert(const convert_job *job, stacks_detail detail, unsigned without,
                               bool divide, void (*write)(const convert_job *job, const profile *p))
{
    const profile_convert_options *own = job->options;
    const profile_options options = {.kind = profile_kind_of(own ? own->kind : NULL),
                                     .open = own && own->open,
                                     .no_system = job->no_system,
                                     .without = without,
                                     .detail = detail,
                                     .select = job->select,
                                     .threads = job->threads};
    profile p = {0};
    gotrace_status status = GOTRACE_END;
    bool made = true;
    if (job->series)
        return add_to_series(job, &options, divide);
    if (own && own->make)
        made = own->make(own->ctx, &p, detail);
    else
        status = profile_make(&p, job->reader, &options);
    end_profile(job, &p, made && !(job->select && job->select->too_hard), write);
    return status;
}

void profile_convert_end(const convert_job *job,
                         void (*write)(const convert_job *job, const profile *p))
{
    profile_series *s = job->series->state;
    if (s)
        end_profile(job, &s->profile, !s->stopped, write);
    free(s);
}
