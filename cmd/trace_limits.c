#include "cmd/trace_limits.h"

#include "cmd/diag.h"
#include "cmd/memory.h"
#include "cmd/output.h"
#include "cmd/processors.h"

#define LIMIT(member) offsetof(settings, limits.member)

/* In the order of gotrace_limit, then those that the library does not have. The defaults are the
 * library's. */
const option_spec limit_options[] = {
    {0, "max-memory", OPTION_SIZE, "SIZE", LIMIT(memory), NULL, "memory (1G)"},
    {0, "max-strings", OPTION_COUNT, "N", LIMIT(strings), NULL, "strings (16777216)"},
    {0, "max-string", OPTION_SIZE, "SIZE", LIMIT(string_bytes), NULL,
     "bytes of a string (1000000)"},
    {0, "max-stacks", OPTION_COUNT, "N", LIMIT(stacks), NULL, "stacks (16777216)"},
    {0, "max-stack", OPTION_COUNT, "N", LIMIT(frames), NULL, "frames of a stack (1000)"},
    {0, "max-goroutines", OPTION_COUNT, "N", LIMIT(goroutines), NULL,
     "goroutines at the same time (16777216)"},
    {0, "max-batches", OPTION_COUNT, "N", LIMIT(batches), NULL, "batches (268435456)"},
    {0, "max-procs", OPTION_COUNT, "N", LIMIT(procs), NULL, "procs (1048576)"},
    {0, "max-input", OPTION_SIZE, "SIZE", LIMIT(input), NULL,
     "input from a pipe or after decompression (64G)"},
    {0, "max-output", OPTION_SIZE, "SIZE", offsetof(settings, max_output), NULL, "output (64G)"},
    {'j', "threads", OPTION_COUNT, "N", offsetof(settings, threads), NULL,
     "threads (as many as processors are allowed)"},
    {0, "sandbox", OPTION_FLAG, NULL, offsetof(settings, sandbox), NULL,
     "restrict file access and system calls"},
    {.name = NULL},
};

static const uint64_t usual_memory = UINT64_C(1) << 30, usual_output = UINT64_C(1) << 36;

void limits_apply(const session *s)
{
    if (s->set->threads == 0)
        s->set->threads = processors_allowed();
    memory_bound(s->set->limits.memory ? s->set->limits.memory : usual_memory,
                 s->set->threads + s->verb->serving);
    output_limit(s->set->max_output ? s->set->max_output : usual_output);
}

void limits_config(const session *s, gotrace_config *config)
{
    *config = (gotrace_config){.limits = &s->set->limits, .threads = s->set->threads};
}

void limits_note(const gotrace_error *error)
{
    if (error->rule == GOTRACE_RULE_SYSTEM_LIMIT && error->limit > GOTRACE_LIMIT_NONE &&
        error->limit <= GOTRACE_LIMIT_INPUT) {
        const option_spec *o = &limit_options[error->limit - 1];
        diag_note("--%s %s raises the limit", o->name, o->value);
    } else if (error->rule == GOTRACE_RULE_SYSTEM_MEMORY) {
        memory_note();
    }
}
