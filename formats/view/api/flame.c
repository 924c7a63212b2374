/* flame.c - the time or CPU samples in a range, by stack. */
#include "formats/analyse/flames.h"
#include "formats/view/api/job.h"

static void put_flames(job *j, flames *f, const profile *p)
{
    size_t count;
    out_str(j->out, "{\"ready\":true,\"flame\":");
    j->failed |= !flames_put(f, p);
    out_str(j->out, ",\"names\":[");
    const uint32_t *names = flames_names(f, &count);
    for (size_t n = 0; n < count; n++) {
        out_str(j->out, n ? "," : "");
        put_name(j->out, p->stacks, names[n]);
    }
    out_str(j->out, "]}");
}

static void run_flame(job *j)
{
    const profile_options options = {.kind = j->asked->kind,
                                     .without = PROFILE_FUNCTION,
                                     .detail = STACKS_BY_FUNCTION,
                                     .select = &j->select,
                                     .threads = j->threads};
    profile p = {0};
    profile_make(&p, j->reader, &options);
    flames *f = p.failed || p.stacks->failed ? NULL : flames_new(j->out, p.stacks);
    if (f)
        put_flames(j, f, &p);
    j->failed |= !f;
    flames_free(f);
    profile_free(&p);
}

void answer_flame(answer *q)
{
    static const char *const names[PROFILE_COUNT] = {
#define FLAME_NAME(name, text) #text,
        PROFILE_KINDS(FLAME_NAME)
#undef FLAME_NAME
    };
    job_question asked = {.run = run_flame};
    unsigned kind = PROFILE_WALL;
    arguments_word(&q->arguments, "profile", names, PROFILE_COUNT, &kind);
    asked.kind = (profile_kind)kind;
    job_read_times(q, &asked);
    if (answer_can(q))
        job_answer(q, &asked);
}
