/* search.c - tests moments with the queries of an expression. */
#include "formats/analyse/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/states.h"
#include "formats/common/vector.h"

/* A moment that may satisfy a query. */
typedef struct stored_moment {
    moment m;
    size_t query;
} stored_moment;

/* ---- tests ------------------------------------------------------------------------------------
 */

/* A test of one moment. */
typedef struct trial {
    search *s;
    const moment *m;
} trial;

static void note_hard(search *s, size_t number, const char *text, size_t size)
{
    find_job *job = s->job;
    if (job->too_hard)
        return;
    job->too_hard = true;
    job->hard_at = s->job->what->patterns[number].at;
    snprintf(job->text, sizeof job->text, "%.*s", (int)(size < 60 ? size : 60), text);
}

/* Whether a pattern matches a name or a stack. */
static bool matches(search *s, size_t number, uint32_t name, uint32_t stack)
{
    matcher *m = &s->matchers[number];
    bool found = name ? matcher_name(m, name) : matcher_stack(m, stack);
    size_t size;
    const char *text = m->too_hard ? stacks_text(s->stacks, m->hard, &size) : NULL;
    s->job->failed = s->job->failed || m->failed;
    if (text)
        note_hard(s, number, text, size);
    return found;
}

bool search_matches(search *s, size_t number, uint32_t name)
{
    return name && matches(s, number - 1, name, 0);
}

static bool message_matches(search *s, size_t number, const moment *m)
{
    size_t size;
    const char *text = moment_message(s->stacks, m, &size);
    if (s->job->too_hard)
        return false;
    switch (pattern_match(s->job->what->patterns[number].pattern, text, size)) {
    case PATTERN_MATCHES: return true;
    case PATTERN_DIFFERS: return false;
    case PATTERN_TOO_HARD: note_hard(s, number, text, size); return false;
    case PATTERN_NO_MEMORY: s->job->failed = true; return false;
    }
    return false;
}

/* What is known of the duration of a moment that began or ends with the trace is its least. */
static bool lasts(const expression_term *t, const moment *m)
{
    uint64_t ns = (uint64_t)m->end - (uint64_t)m->begin;
    bool whole = m->begun && m->ended;
    switch (t->compare) {
    case COMPARE_NONE: return true;
    case COMPARE_GT: return ns > t->bound;
    case COMPARE_GE: return ns >= t->bound;
    case COMPARE_LT: return whole && ns < t->bound;
    case COMPARE_LE: return whole && ns <= t->bound;
    }
    return false;
}

static bool is_of_term(search *s, size_t number, const moment *m)
{
    const expression_term *t = &s->job->what->terms[number];
    if (t->kind != m->kind)
        return false;
    if (MOMENT_BIT(t->kind) & MOMENT_LEVELS)
        return m->term == number;
    if (!lasts(t, m) || (t->text && s->names[number] != m->name))
        return false;
    if (t->sync)
        return reason_is_sync(s->stacks, m->name);
    if (t->network)
        return stacks_name_is(s->stacks, m->name, "network");
    return t->pattern == 0 || message_matches(s, t->pattern - 1, m);
}

static verdict test_moment(void *ctx, const expression_op *op)
{
    const trial *t = ctx;
    const moment *m = t->m;
    bool is = false;
    switch (op->code) {
    case OP_TERM: is = is_of_term(t->s, op->number, m); break;
    case OP_FUNCTION: is = m->function && matches(t->s, op->number, m->function, 0); break;
    case OP_STACK: is = m->stack && matches(t->s, op->number, 0, m->stack); break;
    case OP_GOROUTINE: is = m->goroutine && m->goroutine == op->number; break;
    case OP_DURING:
        if (op->number < t->s->resolved)
            return VERDICT_UNKNOWN;
        is = timeset_overlaps(&t->s->found[op->number], m->begin, m->end);
        break;
    case OP_NOT:
    case OP_AND:
    case OP_OR:
    case OP_UNLESS_TRUE:
    case OP_UNLESS_FALSE: break; /* expression_test combines verdicts */
    }
    return is ? VERDICT_TRUE : VERDICT_FALSE;
}

/* ---- what cannot be found
 * ---------------------------------------------------------------------------
 */

static bool has_least(const expression_term *t)
{
    return t->compare == COMPARE_GT || t->compare == COMPARE_GE;
}

/* The verdict on a moment of which only the kind is known, and that it is shorter than every least
 * duration. */
static verdict test_short(void *ctx, const expression_op *op)
{
    const trial *t = ctx;
    if (op->code != OP_TERM)
        return VERDICT_UNKNOWN;
    const expression_term *term = &t->s->job->what->terms[op->number];
    return term->kind != t->m->kind || has_least(term) ? VERDICT_FALSE : VERDICT_UNKNOWN;
}

int64_t search_least(search *s, moment_kind kind)
{
    const moment m = {.kind = (uint8_t)kind};
    uint64_t least = INT64_MAX;
    for (size_t i = 0; i < s->job->what->query_count; i++) {
        const expression_query *q = &s->job->what->queries[i];
        if (q->kinds & MOMENT_BIT(kind) &&
            expression_test(q, test_short, &(trial){s, &m}) != VERDICT_FALSE)
            return 0;
    }
    for (size_t i = 0; i < s->job->what->term_count; i++) {
        const expression_term *t = &s->job->what->terms[i];
        if (t->kind == kind && has_least(t)) {
            uint64_t bound = t->bound + (t->compare == COMPARE_GT && t->bound < INT64_MAX);
            least = bound < least ? bound : least;
        }
    }
    return (int64_t)least;
}

bool search_tests(const search *s, op_code code)
{
    for (size_t i = 0; i < s->job->what->query_count; i++)
        for (size_t n = 0; n < s->job->what->queries[i].count; n++)
            if (s->job->what->queries[i].code[n].code == code)
                return true;
    return false;
}

/* ---- names ------------------------------------------------------------------------------------
 */

/* A byte has the bits of the kinds with names. */
_Static_assert(MOMENT_REGION < 8, "a kind of moment with names has a higher number");

void search_note_name(search *s, moment_kind kind, uint32_t name)
{
    uint8_t *kinds = name ? matcher_verdict(&s->seen, name) : NULL;
    if (kinds)
        *kinds |= (uint8_t)MOMENT_BIT(kind);
    else if (name)
        s->job->failed = true;
}

static unsigned named_kinds(const expression *what)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < what->term_count; i++)
        if (what->terms[i].text)
            kinds |= MOMENT_BIT(what->terms[i].kind);
    return kinds;
}

static void report_names(const search *s)
{
    for (uint32_t name = 1; name < s->seen.room; name++)
        for (moment_kind kind = 0; s->seen.by_number[name] && kind < MOMENT_KIND_COUNT; kind++)
            if (s->seen.by_number[name] & MOMENT_BIT(kind))
                s->job->named(s->job->named_ctx, s->stacks, kind, name);
}

/* ---- what is found ----------------------------------------------------------------------------
 */

/* A moment that is valid after the call. */
static moment copy_of(const search *s, const moment *m)
{
    moment copy = *m;
    if (m->message)
        copy.message_of = stacks_name(s->stacks, m->message, m->message_size);
    copy.message = NULL;
    copy.message_size = 0;
    return copy;
}

/* Keeps a moment if it is one of the longest so far. */
static void rank(search *s, const moment *m)
{
    size_t slot;
    if (!longest_add(&s->longest, moment_duration(m), &slot, &s->job->failed))
        return;
    uint64_t *places = vector_room(s->places, &s->place_room, slot, sizeof *places);
    if (!places) {
        s->job->failed = true;
        return;
    }
    s->places = places;
    places[slot] = s->ranked.count;
    moment *made = big_array_add(&s->ranked);
    if (made)
        *made = copy_of(s, m);
}

static void pass_ranked(search *s)
{
    bool wanted = true;
    longest_sort(&s->longest, !s->job->by_duration);
    for (size_t i = 0; wanted && !s->job->too_hard && i < s->longest.count; i++) {
        const moment *m = big_array_at(&s->ranked, s->places[s->longest.items[i].slot]);
        wanted = m && s->job->found(s->job->ctx, s->stacks, m);
    }
}

static void pass_on(search *s, const moment *m)
{
    if (s->ends || s->job->too_hard)
        return;
    if (s->job->longest)
        rank(s, m);
    else
        s->ends = !s->job->found(s->job->ctx, s->stacks, m);
}

static void store(search *s, size_t query, const moment *m)
{
    stored_moment *made = big_array_add(&s->stored);
    if (made)
        *made = (stored_moment){copy_of(s, m), query};
}

static verdict test_query(search *s, size_t query, const moment *m)
{
    return expression_test(&s->job->what->queries[query], test_moment, &(trial){s, m});
}

/* Whether some time of the moment is in the range. */
static bool is_in_range(const search *s, const moment *m)
{
    const select_range *r = s->job->range;
    return !r || (m->begin < r->until && (m->end > r->from || m->begin >= r->from));
}

void search_offer(search *s, moment *m)
{
    if (m->begin > m->end)
        m->begin = m->end;
    search_saw(s, (moment_kind)m->kind, m->name);
    for (size_t i = 0; i < s->job->what->query_count; i++) {
        const expression_query *q = &s->job->what->queries[i];
        verdict v = q->kinds & MOMENT_BIT(m->kind) ? test_query(s, i, m) : VERDICT_FALSE;
        if (v == VERDICT_FALSE || (i == 0 && !is_in_range(s, m)))
            continue;
        /* A query with a during passes on in order, what is known already too. */
        if (v == VERDICT_UNKNOWN || (i == 0 && q->during))
            store(s, i, m);
        else if (i == 0)
            pass_on(s, m);
        else
            timeset_add(&s->found[i], m->begin, m->end);
    }
}

/* The trace has ended: tests what was stored for a query, whose own queries have found all. */
static void resolve(search *s, size_t query)
{
    bool during = s->job->what->queries[query].during;
    for (uint64_t i = 0; during && i < s->stored.count && !s->ends; i++) {
        const stored_moment *stored = big_array_at(&s->stored, i);
        if (!stored)
            return;
        if (stored->query != query || test_query(s, query, &stored->m) != VERDICT_TRUE)
            continue;
        if (query == 0)
            pass_on(s, &stored->m);
        else
            timeset_add(&s->found[query], stored->m.begin, stored->m.end);
    }
    timeset_seal(&s->found[query]);
    s->resolved = query;
}

/* ---- the search -------------------------------------------------------------------------------
 */

void search_finish(search *s)
{
    for (size_t i = s->job->what->query_count; i-- > 0;)
        resolve(s, i);
    if (s->job->longest && !s->job->failed)
        pass_ranked(s);
    if (s->named && !s->ends)
        report_names(s);
}

bool search_failed(search *s)
{
    find_job *job = s->job;
    for (size_t i = 0; i < job->what->query_count; i++)
        job->failed = job->failed || s->found[i].failed;
    job->error = s->stored.error ? s->stored.error : s->ranked.error;
    if (s->stacks->failed || job->error == ENOMEM)
        job->failed = true;
    return job->failed || job->error || job->too_hard;
}

/* An array that may be empty. */
static void *array(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

bool search_init(search *s, find_job *job, stacks *names)
{
    const expression *what = job->what;
    *s = (search){.job = job, .stacks = names, .resolved = what->query_count};
    big_array_init(&s->stored, sizeof(stored_moment), NULL);
    big_array_init(&s->ranked, sizeof(moment), NULL);
    longest_init(&s->longest, job->longest);
    s->names = array(what->term_count, sizeof *s->names);
    s->matchers = array(what->pattern_count, sizeof *s->matchers);
    s->found = array(what->query_count, sizeof *s->found);
    if (!s->names || !s->matchers || !s->found)
        return false;
    s->named = job->named ? named_kinds(what) : 0;
    for (size_t i = 0; i < what->term_count; i++)
        if (what->terms[i].text)
            s->names[i] = stacks_name(names, what->terms[i].text, strlen(what->terms[i].text));
    for (size_t i = 0; i < what->pattern_count; i++)
        matcher_init(&s->matchers[i], what->patterns[i].pattern, names);
    return true;
}

void search_free(search *s)
{
    if (!s->job)
        return; /* not initialized */
    for (size_t i = 0; s->matchers && i < s->job->what->pattern_count; i++)
        matcher_free(&s->matchers[i]);
    for (size_t i = 0; s->found && i < s->job->what->query_count; i++)
        timeset_free(&s->found[i]);
    big_array_free(&s->stored);
    big_array_free(&s->ranked);
    longest_free(&s->longest);
    free(s->places);
    free(s->seen.by_number);
    free(s->names);
    free(s->matchers);
    free(s->found);
}
