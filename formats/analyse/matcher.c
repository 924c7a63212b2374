#include "formats/analyse/matcher.h"
#include "formats/common/vector.h"

#include <stdlib.h>
#include <string.h>

void matcher_init(matcher *m, const pattern *p, const stacks *names)
{
    *m = (matcher){.pattern = p, .stacks = names};
}

void matcher_free(matcher *m)
{
    free(m->names.by_number);
    free(m->of_stacks.by_number);
    m->names = m->of_stacks = (matcher_verdicts){0};
}

uint8_t *matcher_verdict(matcher_verdicts *v, uint32_t number)
{
    uint8_t *by_number = vector_zeroed(v->by_number, &v->room, number, 1);
    if (!by_number)
        return NULL;
    v->by_number = by_number;
    return &by_number[number];
}

static uint8_t *verdict_of(matcher *m, matcher_verdicts *v, uint32_t number)
{
    uint8_t *verdict = matcher_verdict(v, number);
    m->failed = m->failed || !verdict;
    return verdict;
}

bool matcher_name(matcher *m, uint32_t name)
{
    bool ended = m->failed || m->too_hard;
    uint8_t *verdict = name && !ended ? verdict_of(m, &m->names, name) : NULL;
    size_t size;
    if (!verdict)
        return false;
    if (*verdict)
        return *verdict == 2;
    const char *text = stacks_text(m->stacks, name, &size);
    switch (pattern_match(m->pattern, text, size)) {
    case PATTERN_MATCHES: *verdict = 2; return true;
    case PATTERN_DIFFERS: *verdict = 1; return false;
    case PATTERN_TOO_HARD:
        m->too_hard = true;
        m->hard = name;
        return false;
    case PATTERN_NO_MEMORY: m->failed = true; return false;
    }
    return false;
}

bool matcher_stack(matcher *m, uint32_t stack)
{
    uint8_t *verdict = stack ? verdict_of(m, &m->of_stacks, stack) : NULL;
    if (!verdict)
        return false;
    if (!*verdict) {
        bool matches = false;
        for (size_t i = 0; i < stacks_depth(m->stacks, stack) && !matches; i++)
            matches = matcher_name(m, stacks_frame_at(m->stacks, stack, i)->function);
        *verdict = matches ? 2 : 1;
    }
    return *verdict == 2;
}
