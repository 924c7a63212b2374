/* write.c - what the formats of profiles share. */
#include "formats/profile/write.h"

#include <errno.h>

gotrace_status profile_convert(const convert_job *job, stacks_detail detail, unsigned without,
                               void (*write)(const convert_job *job, const profile *p))
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
    if (own && own->make)
        made = own->make(own->ctx, &p, detail);
    else
        status = profile_make(&p, job->reader, &options);
    if (made && !p.failed && !(job->select && job->select->too_hard))
        write(job, &p);
    if (p.failed)
        out_fail(job->out, ENOMEM);
    if (job->empty)
        *job->empty = p.count == 0;
    profile_free(&p);
    return status;
}
