/* expression.c - parses expressions, and combines the verdicts of their tests. */
#include "formats/analyse/expression.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/selection.h"
#include "formats/analyse/states.h"
#include "formats/common/vector.h"

/* Bytes of the expression that a message shows. */
enum { MOST_SHOWN = 20 };

static const struct {
    const char *word;
    moment_takes takes;
    moment_measure measure;
} kinds[] = {
#define KIND_ROW(name, word, takes, measure) [MOMENT_##name] = {word, takes, measure},
    MOMENT_KINDS(KIND_ROW)
#undef KIND_ROW
};

static const char *const other_words[] = {"function", "stack", "goroutine", "during", "not"};

const char *moment_name(moment_kind kind)
{
    return kinds[kind].word;
}

const char *expression_word(size_t n)
{
    if (n < MOMENT_KIND_COUNT)
        return kinds[n].word;
    n -= MOMENT_KIND_COUNT;
    return n < sizeof other_words / sizeof *other_words ? other_words[n] : NULL;
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

typedef enum token_type {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_STRING,
    TOKEN_NUMBER, /* with its unit */
    TOKEN_COMPARE,
    TOKEN_EQUALS,
    TOKEN_MATCHES,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OTHER,
} token_type;

typedef struct token {
    token_type type;
    compare compare;
    const char *at;
    size_t size;
} token;

typedef struct parser {
    expression *x;
    expression_error *error;
    token now;
    size_t query; /* of which code is written */
    size_t depth; /* of parentheses */
    size_t tests; /* so far */
    bool negated; /* what is parsed is in an odd number of nots of the query */
    bool failed;
} parser;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of a string, after its closing quote; NULL: there is none. In '...' a backslash is like
 * any other character, so that regular expressions need no second one. */
static const char *string_end(const char *at)
{
    char quote = *at;
    for (at++; *at && *at != quote; at++)
        if (quote == '"' && *at == '\\' && at[1])
            at++;
    return *at ? at + 1 : NULL;
}

static token_type type_of(const char *at, size_t *size, compare *how)
{
    bool equals = at[0] && at[1] == '=';
    *size = 1;
    switch (*at) {
    case '\0': *size = 0; return TOKEN_END;
    case '(': return TOKEN_OPEN;
    case ')': return TOKEN_CLOSE;
    case '~': return TOKEN_MATCHES;
    case '>':
    case '<':
        *size += equals;
        if (*at == '>')
            *how = equals ? COMPARE_GE : COMPARE_GT;
        else
            *how = equals ? COMPARE_LE : COMPARE_LT;
        return TOKEN_COMPARE;
    case '=': *size += equals; return equals ? TOKEN_EQUALS : TOKEN_OTHER;
    case '"':
    case '\'': {
        const char *end = string_end(at);
        *size = end ? (size_t)(end - at) : strlen(at);
        return end ? TOKEN_STRING : TOKEN_OTHER;
    }
    default: break;
    }
    token_type type = is_letter(*at) ? TOKEN_WORD : is_digit(*at) ? TOKEN_NUMBER : TOKEN_OTHER;
    while (type != TOKEN_OTHER && (is_letter(at[*size]) || is_digit(at[*size]) ||
                                   (type == TOKEN_NUMBER && at[*size] == '.')))
        (*size)++;
    /* A character of several bytes is shown whole. */
    return type;
}

static void next_token(parser *p)
{
    const char *at = p->now.at + p->now.size;
    while (is_space(*at))
        at++;
    p->now.at = at;
    p->now.compare = COMPARE_NONE;
    p->now.type = type_of(at, &p->now.size, &p->now.compare);
}

/* A regular expression may be written without quotes: then it ends at a space or a parenthesis. */
static void next_pattern(parser *p)
{
    next_token(p);
    if (p->now.type == TOKEN_STRING || p->now.type == TOKEN_END)
        return;
    size_t size = strcspn(p->now.at, " \t\n\r()\"'");
    if (size == 0)
        return;
    p->now.size = size;
    p->now.type = TOKEN_STRING;
}

static bool is_word(const token *t, const char *word)
{
    return t->type == TOKEN_WORD && t->size == strlen(word) && memcmp(t->at, word, t->size) == 0;
}

static bool take_word(parser *p, const char *word)
{
    if (!is_word(&p->now, word))
        return false;
    next_token(p);
    return true;
}

/* ---- faults -----------------------------------------------------------------------------------
 */

/* Only the first one counts. */
static bool fail_at(parser *p, const char *at)
{
    bool first = !p->failed;
    if (first)
        p->error->at = (size_t)(at - p->x->text);
    p->failed = true;
    return first;
}

static void no_memory(parser *p)
{
    if (fail_at(p, p->now.at))
        p->error->message[0] = '\0';
}

/* The current token is not what was expected. */
static void expected(parser *p, const char *what)
{
    const token *t = &p->now;
    if (!fail_at(p, t->at))
        return;
    char *message = p->error->message;
    size_t room = sizeof p->error->message;
    size_t shown = t->size < MOST_SHOWN ? t->size : MOST_SHOWN;
    while (shown > 0 && shown < t->size && ((unsigned char)t->at[shown] & 0xc0) == 0x80)
        shown--;
    if (t->type == TOKEN_END)
        snprintf(message, room, "%s expected, but the expression ends", what);
    else if (t->type == TOKEN_OTHER && (*t->at == '"' || *t->at == '\''))
        snprintf(message, room, "the string has no closing %c", *t->at);
    else
        snprintf(message, room, "%s expected, not '%.*s%s'", what, (int)shown, t->at,
                 shown < t->size ? "..." : "");
}

static void too_many(parser *p, const char *at, size_t most, const char *what)
{
    if (fail_at(p, at))
        snprintf(p->error->message, sizeof p->error->message, "an expression has at most %zu %s",
                 most, what);
}

/* ---- code -------------------------------------------------------------------------------------
 */

static expression_query *query_of(const parser *p)
{
    return &p->x->queries[p->query];
}

static void emit(parser *p, op_code code, uint64_t number)
{
    expression_query *q = query_of(p);
    expression_op *list = p->failed ? NULL : vector_room(q->code, &q->room, q->count, sizeof *list);
    if (!list) {
        no_memory(p);
        return;
    }
    q->code = list;
    list[q->count++] = (expression_op){code, number};
}

/* Begins a query; its number, or 0 after a fault. */
static size_t add_query(parser *p)
{
    expression *x = p->x;
    expression_query *list = vector_room(x->queries, &x->query_room, x->query_count, sizeof *list);
    if (!list) {
        no_memory(p);
        return 0;
    }
    x->queries = list;
    list[x->query_count] = (expression_query){0};
    return x->query_count++;
}

/* The contents of a string token, to be freed. In a pattern only \" is special, in a name any
 * character after a backslash. */
static char *copy_string(const token *t, bool is_pattern)
{
    char *copy = malloc(t->size + 1);
    size_t size = 0;
    if (!copy)
        return NULL;
    bool quoted = *t->at == '"' || *t->at == '\'';
    const char *at = t->at + quoted, *end = t->at + t->size - quoted;
    for (; at < end; at++) {
        if (*t->at == '"' && *at == '\\' && (at[1] == '"' || !is_pattern))
            at++;
        else if (*t->at == '"' && *at == '\\')
            copy[size++] = *at++;
        copy[size++] = *at;
    }
    copy[size] = '\0';
    return copy;
}

/* Parses the regular expression after a tilde; the number of the pattern + 1, 0 after a fault. */
static size_t parse_pattern(parser *p)
{
    expression *x = p->x;
    next_pattern(p);
    token t = p->now;
    if (t.type != TOKEN_STRING) {
        expected(p, "a regular expression");
        return 0;
    }
    if (x->pattern_count == EXPRESSION_PATTERNS) {
        too_many(p, t.at, EXPRESSION_PATTERNS, "regular expressions");
        return 0;
    }
    expression_pattern *list = vector_room(x->patterns, &x->pattern_room, x->pattern_count,
                                           sizeof *list);
    char *text = list ? copy_string(&t, true) : NULL, why[120] = "";
    size_t column = 1;
    x->patterns = list ? list : x->patterns;
    if (!text) {
        no_memory(p);
        return 0;
    }
    pattern *made = pattern_new(text, why, sizeof why, &column);
    free(text);
    bool quoted = *t.at == '"' || *t.at == '\'';
    size_t at = quoted + column - 1 < t.size ? quoted + column - 1 : t.size - 1;
    if (!made) {
        if (fail_at(p, t.at + at))
            snprintf(p->error->message, sizeof p->error->message, "%s%s",
                     why[0] ? "in the regular expression: " : "", why);
        return 0;
    }
    list[x->pattern_count++] = (expression_pattern){made, (size_t)(t.at - x->text), t.size};
    next_token(p);
    return x->pattern_count;
}

/* ---- tests ------------------------------------------------------------------------------------
 */

/* "4G": K, M, G and T are powers of 1024. */
static bool parse_number(const token *t, bool is_size, uint64_t *number)
{
    static const char units[] = "KMGT";
    size_t i = 0;
    *number = 0;
    for (; i < t->size && is_digit(t->at[i]); i++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(t->at[i] - '0'), number))
            return false;
    const char *unit = is_size && i + 1 == t->size ? strchr(units, t->at[i]) : NULL;
    if (!unit)
        return i == t->size;
    return !__builtin_mul_overflow(*number, (uint64_t)1 << 10 * (unit - units + 1), number);
}

static bool parse_duration(const token *t, uint64_t *ns)
{
    char text[64];
    select_time time;
    if (t->size >= sizeof text)
        return false;
    memcpy(text, t->at, t->size);
    text[t->size] = '\0';
    if (!select_time_parse(text, &time) || time.wall)
        return false;
    *ns = (uint64_t)time.ns;
    return true;
}

/* "> 10ms" */
static void parse_bound(parser *p, expression_term *term, moment_measure measure)
{
    term->compare = p->now.compare;
    bool less = term->compare == COMPARE_LT || term->compare == COMPARE_LE;
    if (less && measure != MEASURE_DURATION) {
        expected(p, "> or >=");
        return;
    }
    next_token(p);
    bool parsed = p->now.type == TOKEN_NUMBER &&
                  (measure == MEASURE_DURATION
                       ? parse_duration(&p->now, &term->bound)
                       : parse_number(&p->now, measure == MEASURE_SIZE, &term->bound));
    if (!parsed)
        expected(p, measure == MEASURE_DURATION ? "a duration such as 10ms, 1.5s, 7us or 100ns"
                    : measure == MEASURE_SIZE   ? "a size such as 4G, 512M or 1000000"
                                                : "a number such as 10000");
    next_token(p);
}

/* ("name"), (sync) */
static void parse_argument(parser *p, expression_term *term, moment_takes takes)
{
    bool takes_word = takes == TAKES_REASON;
    next_token(p);
    if (takes_word && (is_word(&p->now, "sync") || is_word(&p->now, "network"))) {
        term->sync = is_word(&p->now, "sync");
        term->network = !term->sync;
    } else if (p->now.type == TOKEN_STRING) {
        term->text = copy_string(&p->now, false);
        if (!term->text)
            no_memory(p);
    } else {
        expected(p, takes_word ? "sync, network or a reason in quotes" : "a name in quotes");
    }
    next_token(p);
    if (p->now.type != TOKEN_CLOSE)
        expected(p, ")");
    next_token(p);
}

static bool is_same_pattern(const expression *x, size_t a, size_t b)
{
    if (a == 0 || b == 0)
        return a == b;
    const expression_pattern *p = &x->patterns[a - 1], *q = &x->patterns[b - 1];
    return p->size == q->size && memcmp(x->text + p->at, x->text + q->at, p->size) == 0;
}

/* The number of the last term. An equal level from before is the same one: each level has moments
 * of its own. */
static size_t newest_term(expression *x)
{
    size_t last = x->term_count - 1, i = 0;
    const expression_term *new = &x->terms[last];
    if (!(MOMENT_BIT(new->kind) & MOMENT_LEVELS))
        return last;
    while (x->terms[i].kind != new->kind || x->terms[i].compare != new->compare ||
           x->terms[i].bound != new->bound ||
           !is_same_pattern(x, x->terms[i].pattern, new->pattern))
        i++;
    if (i < last)
        x->term_count--;
    return i;
}

static void parse_term(parser *p, moment_kind kind)
{
    expression *x = p->x;
    expression_term *list = vector_room(x->terms, &x->term_room, x->term_count, sizeof *list);
    if (!list) {
        no_memory(p);
        return;
    }
    x->terms = list;
    expression_term *term = &list[x->term_count++];
    *term = (expression_term){.kind = kind};
    moment_takes takes = kinds[kind].takes;
    moment_measure measure = kinds[kind].measure;
    next_token(p);
    if (p->now.type == TOKEN_OPEN && (takes == TAKES_NAME || takes == TAKES_REASON))
        parse_argument(p, term, takes);
    if (p->now.type == TOKEN_MATCHES && takes == TAKES_PATTERN)
        term->pattern = parse_pattern(p);
    if (p->now.type == TOKEN_COMPARE && measure != MEASURE_NOTHING)
        parse_bound(p, term, measure);
    else if (measure != MEASURE_NOTHING && measure != MEASURE_DURATION)
        expected(p, "> or >=");
    else if (kind == MOMENT_SILENCE) { /* else each event would end one */
        term->compare = COMPARE_GT;
        term->bound = SILENCE_NS;
    }
    if (!p->negated)
        query_of(p)->kinds |= MOMENT_BIT(kind);
    emit(p, OP_TERM, newest_term(x));
}

/* function ~ REGEX, stack ~ REGEX */
static void parse_match(parser *p, op_code code)
{
    next_token(p);
    if (p->now.type != TOKEN_MATCHES) {
        expected(p, "~");
        return;
    }
    size_t number = parse_pattern(p);
    if (number)
        emit(p, code, number - 1);
}

/* goroutine == ID */
static void parse_goroutine(parser *p)
{
    uint64_t id = 0;
    next_token(p);
    if (p->now.type != TOKEN_EQUALS) {
        expected(p, "==");
        return;
    }
    next_token(p);
    if (p->now.type != TOKEN_NUMBER || !parse_number(&p->now, false, &id))
        expected(p, "the number of a goroutine");
    next_token(p);
    emit(p, OP_GOROUTINE, id);
}

static void parse_any(parser *p);

/* An expression in parentheses. */
static void parse_inner(parser *p)
{
    if (p->now.type != TOKEN_OPEN) {
        expected(p, "(");
        return;
    }
    if (p->depth == EXPRESSION_NESTING) {
        too_many(p, p->now.at, EXPRESSION_NESTING, "nested parentheses");
        return;
    }
    p->depth++;
    next_token(p);
    parse_any(p);
    if (p->now.type != TOKEN_CLOSE)
        expected(p, "and, or, or )");
    next_token(p);
    p->depth--;
}

static void end_query(expression_query *q)
{
    if (q->kinds == 0)
        q->kinds = MOMENT_STATES;
}

static void parse_during(parser *p)
{
    size_t outer = p->query;
    bool negated = p->negated;
    if (p->x->query_count > EXPRESSION_DURINGS) {
        too_many(p, p->now.at, EXPRESSION_DURINGS, "times during");
        return;
    }
    next_token(p);
    size_t inner = add_query(p);
    if (inner == 0)
        return;
    p->query = inner;
    p->negated = false;
    parse_inner(p);
    end_query(query_of(p));
    p->query = outer;
    p->negated = negated;
    query_of(p)->during = true;
    emit(p, OP_DURING, inner);
}

static void unknown(parser *p)
{
    const token t = p->now;
    expected(p, "a test such as stw > 10ms");
    if (t.type == TOKEN_WORD && t.size < sizeof p->error->word) {
        memcpy(p->error->word, t.at, t.size);
        p->error->word[t.size] = '\0';
    }
}

static void parse_test(parser *p)
{
    if (p->now.type == TOKEN_OPEN) {
        parse_inner(p);
        return;
    }
    if (p->tests++ == EXPRESSION_TESTS) {
        too_many(p, p->now.at, EXPRESSION_TESTS, "tests");
        return;
    }
    for (moment_kind kind = 0; kind < MOMENT_KIND_COUNT; kind++)
        if (is_word(&p->now, kinds[kind].word)) {
            parse_term(p, kind);
            return;
        }
    if (is_word(&p->now, "function"))
        parse_match(p, OP_FUNCTION);
    else if (is_word(&p->now, "stack"))
        parse_match(p, OP_STACK);
    else if (is_word(&p->now, "goroutine"))
        parse_goroutine(p);
    else if (is_word(&p->now, "during"))
        parse_during(p);
    else
        unknown(p);
}

/* Any number of not, without recursion. */
static void parse_not(parser *p)
{
    bool negated = false;
    while (take_word(p, "not"))
        negated = !negated;
    p->negated ^= negated;
    parse_test(p);
    p->negated ^= negated;
    if (negated)
        emit(p, OP_NOT, 0);
}

/* A row of operands. The verdict of the first ones may decide: then the others are skipped. */
static void parse_row(parser *p, const char *word, op_code join, op_code unless,
                      void (*operand)(parser *p))
{
    /* The jumps form a list, until it is known where they lead. */
    uint64_t last = UINT64_MAX;
    operand(p);
    while (!p->failed && is_word(&p->now, word)) {
        next_token(p);
        emit(p, unless, last);
        last = query_of(p)->count - 1;
        operand(p);
        emit(p, join, 0);
    }
    while (!p->failed && last != UINT64_MAX) {
        expression_op *jump = &query_of(p)->code[last];
        last = jump->number;
        jump->number = query_of(p)->count;
    }
}

static void parse_all(parser *p)
{
    parse_row(p, "and", OP_AND, OP_UNLESS_FALSE, parse_not);
}

static void parse_any(parser *p)
{
    parse_row(p, "or", OP_OR, OP_UNLESS_TRUE, parse_all);
}

bool expression_parse(expression *x, const char *text, expression_error *error)
{
    *x = (expression){.text = text};
    *error = (expression_error){0};
    parser p = {.x = x, .error = error, .now = {.at = text}};
    add_query(&p);
    if (p.failed)
        return false;
    next_token(&p);
    if (p.now.type == TOKEN_END) {
        fail_at(&p, p.now.at);
        snprintf(error->message, sizeof error->message,
                 "the expression is empty; a test such as stw > 10ms was expected");
        return false;
    }
    parse_any(&p);
    if (!p.failed && p.now.type != TOKEN_END)
        expected(&p, "and, or, or the end");
    for (size_t i = 0; i < x->query_count; i++) {
        end_query(&x->queries[i]);
        x->kinds |= x->queries[i].kinds;
    }
    return !p.failed;
}

size_t expression_column(const char *text, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    return column;
}

void expression_free(expression *x)
{
    for (size_t i = 0; i < x->query_count; i++)
        free(x->queries[i].code);
    for (size_t i = 0; i < x->term_count; i++)
        free(x->terms[i].text);
    for (size_t i = 0; i < x->pattern_count; i++)
        pattern_free(x->patterns[i].pattern);
    free(x->queries);
    free(x->terms);
    free(x->patterns);
    *x = (expression){0};
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

static verdict negate(verdict v)
{
    return v == VERDICT_UNKNOWN ? v : v == VERDICT_TRUE ? VERDICT_FALSE : VERDICT_TRUE;
}

/* What decides an OR is true, what decides an AND is false. */
static verdict join(verdict a, verdict b, verdict decides)
{
    if (a == decides || b == decides)
        return decides;
    return a == VERDICT_UNKNOWN || b == VERDICT_UNKNOWN ? VERDICT_UNKNOWN : negate(decides);
}

verdict expression_test(const expression_query *q,
                        verdict (*test)(void *ctx, const expression_op *op), void *ctx)
{
    /* In each pair of parentheses the verdict of an OR and that of an AND wait for one more. */
    verdict stack[2 * (EXPRESSION_NESTING + 1) + 1];
    size_t top = 0;
    for (size_t i = 0; i < q->count; i++) {
        const expression_op *op = &q->code[i];
        switch (op->code) {
        case OP_NOT: stack[top - 1] = negate(stack[top - 1]); break;
        case OP_AND:
        case OP_OR:
            top--;
            stack[top - 1] = join(stack[top - 1], stack[top],
                                  op->code == OP_OR ? VERDICT_TRUE : VERDICT_FALSE);
            break;
        case OP_UNLESS_TRUE:
        case OP_UNLESS_FALSE:
            if (stack[top - 1] == (op->code == OP_UNLESS_TRUE ? VERDICT_TRUE : VERDICT_FALSE))
                i = op->number - 1;
            break;
        default: stack[top++] = test(ctx, op); break;
        }
    }
    return stack[0];
}
