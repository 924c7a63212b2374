/* json_parse.c - see json_parse.h. */
#include "formats/script/json_parse.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/utf8.h"
#include "formats/script/script.h"

enum { MOST_DEPTH = 2048 };

/* Limit of members per object, because names are compared with each other. */
enum { MOST_MEMBERS = 256 };

/* Special results of reading a byte, and tokens besides '{', '}', '[', ']', ':' and ','. */
enum { CUT = -1, INVALID = -2, STRING = 256, INTEGER, REAL, TRUE, FALSE, NIL };

typedef struct parser {
    script_job *job;
    json_tree *tree;
    json_error *error;
    const char *start, *at, *end; /* of the token, after it, of the text */
    const char *checked;          /* bytes before are UTF-8 */
    int token;
    json_value value; /* of a token that is a value */
    unsigned depth;
    bool skim;
    bool refused; /* memory for the token was refused; the job has the error */
} parser;

/* Sets the error, with the text of the token, if there is none yet. Returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(parser *p, json_fault fault,
                                                       const char *message, ...)
{
    enum { SHOWN = 20 };
    json_error *e = p->error;
    size_t size = (size_t)(p->at - p->start);
    va_list args;
    if (e->text[0] || p->refused)
        return false;
    va_start(args, message);
    size_t used = (size_t)vsnprintf(e->text, sizeof e->text, message, args);
    va_end(args);
    e->fault = fault;
    e->at = p->at;
    if (size > 0 && size <= SHOWN)
        snprintf(e->text + used, sizeof e->text - used, " near '%.*s'", (int)size, p->start);
    else if (size == 0 && fault == JSON_WRONG) {
        snprintf(e->text + used, sizeof e->text - used, " near end of file");
        e->fault = JSON_CUT;
    }
    return false;
}

/* ---- tokens -------------------------------------------------------------------------------- */

static int get(parser *p)
{
    if (p->at == p->end)
        return CUT;
    unsigned char c = (unsigned char)*p->at;
    if (c >= 0x80 && p->at >= p->checked) {
        uint32_t rune;
        size_t size = utf8_decode(p->at, (size_t)(p->end - p->at), &rune);
        if (size == 0) {
            fail(p, JSON_NOT_UTF8, "unable to decode byte 0x%x", c);
            return INVALID;
        }
        p->checked = p->at + size;
    }
    p->at++;
    return c;
}

static void unget(parser *p, int c)
{
    p->at -= c >= 0;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool scan_escape(parser *p)
{
    int c = get(p);
    bool valid = c > 0 && strchr("\"\\/bfnrtu", c);
    for (int i = 0; valid && c == 'u' && i < 4; i++) {
        int digit = get(p);
        valid = digit >= 0 && script_digit((char)digit) < 16;
    }
    return valid || fail(p, JSON_WRONG, "invalid escape");
}

static uint32_t hex4(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 4 | script_digit(digits[i]);
    return value;
}

/* Decodes the digits of "\u", and of the second half of a pair. */
static bool decode_rune(parser *p, const char **from, uint32_t *rune)
{
    const char *s = *from;
    *rune = hex4(s);
    *from += 4;
    if (*rune < 0xd800 || *rune > 0xdfff)
        return true;
    if (*rune > 0xdbff || s[4] != '\\' || s[5] != 'u')
        return fail(p, JSON_WRONG, "invalid Unicode '\\u%04X'", *rune);
    uint32_t low = hex4(s + 6);
    if (low < 0xdc00 || low > 0xdfff)
        return fail(p, JSON_WRONG, "invalid Unicode '\\u%04X\\u%04X'", *rune, low);
    *rune = ((*rune - 0xd800) << 10) + (low - 0xdc00) + 0x10000;
    *from += 6;
    return true;
}

/* Appends the string of the token to tree->decoded, without escapes. At the first such string, room
 * is made for the rest of the text, so that the bytes do not move. */
static bool decode_string(parser *p)
{
    static const char escapes[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    json_tree *t = p->tree;
    void *memory = t->decoded;
    size_t need = t->decoded_size + (size_t)(p->end - p->start);
    p->refused = script_grow(p->job, &memory, &t->decoded_capacity, need, 1) != GOTRACE_OK;
    if (p->refused)
        return false;
    t->decoded = memory;
    char *to = t->decoded + t->decoded_size;
    for (const char *s = p->start + 1; s < p->at - 1;) {
        uint32_t rune;
        if (*s != '\\') {
            *to++ = *s++;
        } else if (s[1] != 'u') {
            *to++ = bytes[strchr(escapes, s[1]) - escapes];
            s += 2;
        } else {
            s += 2;
            if (!decode_rune(p, &s, &rune))
                return false;
            to += utf8_encode(to, rune);
        }
    }
    p->value.escaped = true;
    p->value.bytes = t->decoded + t->decoded_size;
    p->value.size = (size_t)(to - p->value.bytes);
    return true;
}

static int scan_string(parser *p)
{
    bool escaped = false;
    for (int c; (c = get(p)) != '"';) {
        if (c == CUT)
            fail(p, JSON_CUT, "premature end of input");
        if (c < 0)
            return INVALID;
        if (c < ' ') {
            unget(p, c);
            if (c == '\n')
                fail(p, JSON_WRONG, "unexpected newline");
            else
                fail(p, JSON_WRONG, "control character 0x%x", (unsigned)c);
            return INVALID;
        }
        if (c == '\\' && !scan_escape(p))
            return INVALID;
        escaped = escaped || c == '\\';
    }
    p->value = (json_value){
        .kind = JSON_STRING, .bytes = p->start + 1, .size = (size_t)(p->at - p->start) - 2};
    return !escaped || decode_string(p) ? STRING : INVALID;
}

static int get_digits(parser *p)
{
    int c;
    do
        c = get(p);
    while (is_digit(c));
    return c;
}

static int take_integer(parser *p)
{
    bool negative = *p->start == '-', fits = true;
    int64_t value = 0;
    for (const char *s = p->start + negative; s < p->at; s++)
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !(negative ? __builtin_sub_overflow(value, *s - '0', &value)
                          : __builtin_add_overflow(value, *s - '0', &value));
    p->value = (json_value){.kind = JSON_INTEGER, .integer = value};
    if (fits)
        return INTEGER;
    if (negative)
        fail(p, JSON_WRONG, "too big negative integer");
    else
        fail(p, JSON_TOO_BIG, "too big integer");
    return INVALID;
}

static int take_real(parser *p)
{
    char *text = strndup(p->start, (size_t)(p->at - p->start));
    p->refused = !text;
    if (!text) {
        script_fail_system(p->job, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
        return INVALID;
    }
    p->value = (json_value){.kind = JSON_REAL, .real = strtod(text, NULL)};
    free(text);
    if (isfinite(p->value.real))
        return REAL;
    fail(p, JSON_WRONG, "real number overflow");
    return INVALID;
}

static int scan_number(parser *p, int c)
{
    bool real = false;
    if (c == '-')
        c = get(p);
    if (!is_digit(c)) {
        unget(p, c);
        return INVALID;
    }
    if (c != '0') {
        c = get_digits(p);
    } else if (is_digit(c = get(p))) {
        unget(p, c);
        return INVALID;
    }
    for (const char *part = ".e"; *part; part++) {
        if (*part == '.' ? c != '.' : (c | 32) != 'e')
            continue;
        c = get(p);
        if (*part == 'e' && (c == '+' || c == '-'))
            c = get(p);
        if (!is_digit(c)) {
            unget(p, c);
            return INVALID;
        }
        c = get_digits(p);
        real = true;
    }
    unget(p, c);
    return real ? take_real(p) : take_integer(p);
}

static int scan_word(parser *p)
{
    static const struct {
        const char *text;
        int token;
        json_kind kind;
    } words[] = {{"true", TRUE, JSON_TRUE}, {"false", FALSE, JSON_FALSE}, {"null", NIL, JSON_NULL}};
    int c;
    do
        c = get(p);
    while (is_letter(c));
    unget(p, c);
    size_t size = (size_t)(p->at - p->start);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].text) == size && memcmp(words[i].text, p->start, size) == 0) {
            p->value = (json_value){.kind = words[i].kind};
            return words[i].token;
        }
    }
    return INVALID;
}

static int scan(parser *p)
{
    while (p->at < p->end && memchr(" \t\r\n", *p->at, 4))
        p->at++;
    p->start = p->at;
    int c = get(p);
    if (c == '"')
        return scan_string(p);
    if (is_digit(c) || c == '-')
        return scan_number(p, c);
    if (is_letter(c))
        return scan_word(p);
    if (c < 0 || (c > 0 && strchr("{}[]:,", c)))
        return c;
    while (p->at < p->checked)
        p->at++;
    return INVALID;
}

static int next(parser *p)
{
    return p->token = scan(p);
}

/* ---- values -------------------------------------------------------------------------------- */

static bool parse_value(parser *p);

static json_value *add(parser *p, json_value value)
{
    json_tree *t = p->tree;
    void *memory = t->values;
    if (script_grow(p->job, &memory, &t->capacity, t->count + 1, sizeof value) != GOTRACE_OK)
        return NULL;
    t->values = memory;
    value.at = p->start;
    value.span = 1;
    if (value.escaped)
        t->decoded_size += value.size;
    t->values[t->count] = value;
    return &t->values[t->count++];
}

/* Adds the name of a member. */
static bool add_name(parser *p, size_t object)
{
    if (p->token != STRING)
        return fail(p, JSON_WRONG, "string or '}' expected");
    const json_value *name = add(p, p->value);
    if (!name)
        return false;
    if (memchr(name->bytes, '\0', name->size))
        return fail(p, JSON_WRONG, "NUL byte in object key not supported");
    size_t members = 0;
    for (const json_value *other = &p->tree->values[object] + 1; other < name;
         other = json_after(other + 1), members++)
        if (other->size == name->size && memcmp(other->bytes, name->bytes, name->size) == 0)
            return fail(p, JSON_WRONG, "duplicate object key");
    return members < MOST_MEMBERS ||
           fail(p, JSON_WRONG, "object with more than %d members", MOST_MEMBERS);
}

static bool parse_object(parser *p, size_t object)
{
    if (next(p) == '}')
        return true;
    for (;;) {
        if (!add_name(p, object))
            return false;
        if (next(p) != ':')
            return fail(p, JSON_WRONG, "':' expected");
        next(p);
        if (!parse_value(p))
            return false;
        if (next(p) != ',')
            return p->token == '}' || fail(p, JSON_WRONG, "'}' expected");
        next(p);
    }
}

static bool parse_array(parser *p)
{
    if (next(p) == ']')
        return true;
    while (p->token != CUT) {
        size_t count = p->tree->count, decoded = p->tree->decoded_size;
        if (!parse_value(p))
            return false;
        if (p->skim && p->depth == 2) {
            p->tree->count = count;
            p->tree->decoded_size = decoded;
        }
        if (next(p) != ',')
            break;
        next(p);
    }
    return p->token == ']' || fail(p, JSON_WRONG, "']' expected");
}

static bool parse_value(parser *p)
{
    size_t at = p->tree->count;
    bool object = p->token == '{', array = p->token == '[';
    if (++p->depth > MOST_DEPTH)
        return fail(p, JSON_WRONG, "maximum parsing depth reached");
    if (p->token == INVALID)
        return fail(p, JSON_WRONG, "invalid token");
    if (!object && !array && p->token < STRING)
        return fail(p, JSON_WRONG, "unexpected token");
    json_value container = {.kind = object ? JSON_OBJECT : JSON_ARRAY};
    if (!add(p, object || array ? container : p->value) || (object && !parse_object(p, at)) ||
        (array && !parse_array(p)))
        return false;
    p->tree->values[at].span = p->tree->count - at;
    p->depth--;
    return true;
}

gotrace_status json_parse(script_job *job, json_tree *tree, const char *text, size_t size,
                          json_extent extent, json_error *error)
{
    parser p = {.job = job,
                .tree = tree,
                .error = error,
                .at = text,
                .end = text + size,
                .checked = text,
                .skim = extent == JSON_SKIM};
    *error = (json_error){.at = text};
    tree->count = tree->decoded_size = 0;
    next(&p);
    bool parsed = extent == JSON_ELEMENT || p.token == '{' || p.token == '['
                      ? parse_value(&p)
                      : fail(&p, JSON_WRONG, "'[' or '{' expected");
    tree->end = p.at;
    if (parsed && extent == JSON_ALONE && next(&p) != CUT)
        parsed = fail(&p, JSON_WRONG, "end of file expected");
    return parsed ? GOTRACE_OK : GOTRACE_ERROR;
}

void json_free(script_job *job, json_tree *tree)
{
    script_release(job, tree->values, tree->capacity, sizeof *tree->values);
    script_release(job, tree->decoded, tree->decoded_capacity, 1);
}

const json_value *json_member(const json_value *object, const char *name)
{
    const json_value *end = object->kind == JSON_OBJECT ? json_after(object) : object;
    for (const json_value *member = object + 1; member < end; member = json_after(member + 1))
        if (json_is(member, name))
            return member;
    return NULL;
}

bool json_is(const json_value *string, const char *text)
{
    return string->size == strlen(text) && memcmp(string->bytes, text, string->size) == 0;
}

void json_place_move(json_place *place, const char *to)
{
    for (; place->at < to; place->at++) {
        if (*place->at == '\n') {
            place->line++;
            place->column = 1;
        } else {
            place->column += (*place->at & 0xc0) != 0x80;
        }
    }
}
