#include "cmd/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/trace_limits.h"
#include "formats/analyse/selection.h"

enum { HELP_INDENT = 28, HELP_WIDTH = 80 };

const option_spec common_options[] = {
    {'o', "output", OPTION_TEXT, "OUT", offsetof(settings, output), NULL,
     "write to OUT, which appears complete or not at all"},
    {0, "zstd", OPTION_FLAG, NULL, offsetof(settings, zstd), NULL,
     "compress with zstd (default if OUT ends in .zst)"},
    {0, "gzip", OPTION_FLAG, NULL, offsetof(settings, gzip), NULL,
     "compress with gzip (default if OUT ends in .gz)"},
    {'q', "quiet", OPTION_FLAG, NULL, offsetof(settings, quiet), NULL,
     "print no warnings, notes and progress"},
    {'v', "verbose", OPTION_FLAG, NULL, offsetof(settings, verbose), NULL,
     "print more about problems, and the speed"},
    {'h', "help", OPTION_FLAG, NULL, offsetof(settings, help), NULL, "print help for a verb"},
    {.name = NULL},
};

static bool has_own(const verb *v, size_t own, const char *name)
{
    for (size_t i = 0; i < own; i++)
        if (strcmp(v->options[i].name, name) == 0)
            return true;
    return false;
}

const option_spec *option_at(const verb *v, size_t n)
{
    size_t own = 0;
    while (v->options && v->options[own].name)
        own++;
    if (n < own)
        return &v->options[n];
    /* A verb that redefines a common option lists it among its own. */
    n -= own;
    for (const option_spec *common = common_options; common->name; common++)
        if (!has_own(v, own, common->name) && n-- == 0)
            return common;
    size_t limits = 0;
    while (v->limited && limit_options[limits].name)
        limits++;
    return n < limits ? &limit_options[n] : NULL;
}

enum { LONGEST = 64 }; /* bytes of words that are compared */

/* The Levenshtein distance of two short words, at most limit. */
static size_t distance(const char *a, const char *b, size_t limit)
{
    size_t row[LONGEST + 1], length = strlen(b), other = strlen(a);
    if (length > LONGEST || length >= other + limit || other >= length + limit)
        return limit;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t either = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < either ? change : either;
        }
    }
    return row[length] < limit ? row[length] : limit;
}

/* The smallest number of changes after which a word is no longer recognisable: two, or more than a
 * third of its letters. */
static size_t too_far(const char *written)
{
    size_t third = strlen(written) / 3;
    return third > 1 ? third + 1 : 2;
}

size_t word_distance(const char *written, const char *word)
{
    return strlen(written) > LONGEST ? LONGEST : distance(written, word, LONGEST);
}

const char *nearest(const char *written, const char *(*at)(size_t n))
{
    size_t best = too_far(written);
    const char *found = NULL;
    for (size_t n = 0; at(n); n++) {
        size_t d = distance(written, at(n), best);
        if (d < best) {
            best = d;
            found = at(n);
        }
    }
    return found;
}

static const option_spec *option_by_letter(const verb *v, char letter)
{
    const option_spec *o;
    for (size_t n = 0; (o = option_at(v, n)); n++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static const option_spec *option_by_name(const verb *v, const char *name, size_t size)
{
    const option_spec *o;
    for (size_t n = 0; (o = option_at(v, n)); n++)
        if (strlen(o->name) == size && strncmp(o->name, name, size) == 0)
            return o;
    return NULL;
}

static bool set_number(const option_spec *o, const char *value, uint64_t *field)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno == ERANGE) {
        diag_error("--%s takes a number, not '%s'", o->name, value);
        return false;
    }
    *field = number;
    return true;
}

/* A size such as "64K"; false if it is not one. */
static bool parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool whole = text[0] >= '0' && text[0] <= '9' && errno == 0 && end[unit ? 1 : 0] == '\0';
    if (!whole || number > UINT64_MAX >> shift)
        return false;
    *size = number << shift;
    return true;
}

static bool set_above_zero(const option_spec *o, const char *value, uint64_t *field)
{
    bool size = o->type == OPTION_SIZE;
    if (size && (!parse_size(value, field) || *field == 0)) {
        diag_error("--%s takes a size above 0, like 512M (K, M and G are 1024, 1024^2 and 1024^3 "
                   "bytes), not '%s'",
                   o->name, value);
        return false;
    }
    if (!size && !set_number(o, value, field))
        return false;
    if (*field == 0)
        diag_error("--%s takes a number above 0, not '%s'", o->name, value);
    return *field != 0;
}

static bool set_time(const option_spec *o, const char *value, int64_t *field)
{
    select_time time;
    if (!select_time_parse(value, &time) || time.wall || time.ns <= 0) {
        diag_error("--%s takes a time above 0, such as 1ms, 100us or 500ns, not '%s'", o->name,
                   value);
        return false;
    }
    *field = time.ns;
    return true;
}

/* Centuries, of which there are too many ns, are as good as for ever. */
static bool set_seconds(const option_spec *o, const char *value, int64_t *field)
{
    char text[64];
    select_time time;
    const size_t digits = strspn(value, "0123456789"), plain = strspn(value, "0123456789.");
    const bool fits = snprintf(text, sizeof text, "%s%s", value, value[plain] ? "" : "s") <
                      (int)sizeof text;
    if (fits && select_time_parse(text, &time) && !time.wall && time.ns > 0) {
        *field = time.ns;
    } else if (digits > 0 && !value[digits] && strtoull(value, NULL, 10) > 0) {
        *field = INT64_MAX;
    } else {
        diag_error("--%s takes a time above 0, such as 0.5 (seconds) or 500ms, not '%s'", o->name,
                   value);
        return false;
    }
    return true;
}

void options_join(char *dst, size_t size, const char *(*at)(size_t n))
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t n = 0; at(n) && used < size; n++)
        used += (size_t)snprintf(dst + used, size - used, "%s%s", n ? ", " : "", at(n));
}

void options_unknown(const char *option, const char *value, const char *(*at)(size_t n))
{
    char known[2048];
    options_join(known, sizeof known, at);
    const char *near = nearest(value, at);
    if (near)
        diag_error("--%s: unknown '%s'; did you mean '%s'? Known are: %s", option, value, near,
                   known);
    else
        diag_error("--%s: unknown '%s'; known are: %s", option, value, known);
}

bool options_list(const char *option, const char *list, const char *(*at)(size_t n), unsigned *set)
{
    for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        size_t size = strcspn(word, ","), n = 0;
        while (at(n) && (strlen(at(n)) != size || strncmp(at(n), word, size) != 0))
            n++;
        if (!at(n)) {
            char unknown[64];
            snprintf(unknown, sizeof unknown, "%.*s", size < 60 ? (int)size : 60, word);
            options_unknown(option, unknown, at);
            return false;
        }
        *set |= 1U << n;
    }
    return true;
}

static bool set_choice(const option_spec *o, const char *value, const char **field)
{
    for (size_t n = 0; o->choice(n); n++) {
        if (strcmp(o->choice(n), value) == 0) {
            *field = value;
            return true;
        }
    }
    options_unknown(o->name, value, o->choice);
    return false;
}

/* --to also accepted the end of a time range before --until existed: a number with a unit is not a
 * format. */
static bool set_target(const char *value, const char **field)
{
    size_t number = strspn(value, ".0123456789");
    if (number > 0 && value[number]) {
        diag_error("--to takes a format, not the time '%s'; use --until %s", value, value);
        return false;
    }
    *field = value;
    return true;
}

static bool add_to_list(const option_spec *o, const char *value, text_list *list)
{
    if (list->count == TEXT_LIST_MOST) {
        diag_error("--%s may be given at most %d times", o->name, TEXT_LIST_MOST);
        return false;
    }
    list->items[list->count++] = value;
    return true;
}

static bool set_option(session *s, const option_spec *o, const char *value)
{
    void *field = (char *)s->set + o->field;
    switch (o->type) {
    case OPTION_FLAG: *(bool *)field = true; return true;
    case OPTION_NUMBER: return set_number(o, value, field);
    case OPTION_COUNT:
    case OPTION_SIZE: return set_above_zero(o, value, field);
    case OPTION_TIME: return set_time(o, value, field);
    case OPTION_SECONDS: return set_seconds(o, value, field);
    case OPTION_WORD:
    case OPTION_TEXT: *(const char **)field = value; return true;
    case OPTION_LIST: return add_to_list(o, value, field);
    case OPTION_CHOICE: return set_choice(o, value, field);
    case OPTION_TARGET: return set_target(value, field);
    }
    return false;
}

static const char *nearest_option(const verb *v, const char *written)
{
    const char *found = NULL;
    size_t best = too_far(written);
    const option_spec *o;
    for (size_t n = 0; (o = option_at(v, n)); n++) {
        size_t d = distance(written, o->name, best);
        if (d < best) {
            best = d;
            found = o->name;
        }
    }
    return found;
}

/* Report that a verb has no such option, and which one is meant, or which verbs have it. */
static void report_unknown(const verb *v, const char *name, size_t size)
{
    char written[64], owners[256] = "";
    size_t used = 0;
    snprintf(written, sizeof written, "%.*s", (int)(size < 60 ? size : 60), name);
    for (size_t i = 0; verbs[i] && used < sizeof owners; i++)
        if (option_by_name(verbs[i], name, size))
            used += (size_t)snprintf(owners + used, sizeof owners - used, "%s%s", used ? ", " : "",
                                     verbs[i]->name);
    const char *near = nearest_option(v, written);
    if (used)
        diag_error("%s has no option '--%s'; these verbs have it: %s", v->name, written, owners);
    else if (near)
        diag_error("unknown option '--%s'; did you mean '--%s'?", written, near);
    else
        diag_error("unknown option '--%s'", written);
}

/* Parse one "--name", "--name=value" or "--name value". Returns the number of arguments used, 0
 * after a diagnostic. */
static int parse_long(session *s, char **arg)
{
    const char *name = arg[0] + 2, *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    const option_spec *o = option_by_name(s->verb, name, size);
    if (!o) {
        report_unknown(s->verb, name, size);
        return 0;
    }
    if (o->type == OPTION_FLAG) {
        if (equals) {
            diag_error("option '--%s' takes no value", o->name);
            return 0;
        }
        return set_option(s, o, NULL) ? 1 : 0;
    }
    if (equals)
        return set_option(s, o, equals + 1) ? 1 : 0;
    if (!arg[1]) {
        diag_error("option '--%s' needs a value: %s", o->name, o->value);
        return 0;
    }
    return set_option(s, o, arg[1]) ? 2 : 0;
}

/* The same for short options: "-q", "-qv", "-oOUT", "-o OUT". */
static int parse_short(session *s, char **arg)
{
    for (const char *letter = arg[0] + 1; *letter; letter++) {
        const option_spec *o = option_by_letter(s->verb, *letter);
        if (!o) {
            diag_error("unknown option '-%.*s'", (*letter & 0x80) ? 8 : 1, letter);
            return 0;
        }
        if (o->type == OPTION_FLAG) {
            set_option(s, o, NULL);
            continue;
        }
        if (letter[1])
            return set_option(s, o, letter + 1) ? 1 : 0;
        if (!arg[1]) {
            diag_error("option '-%c' needs a value: %s", o->letter, o->value);
            return 0;
        }
        return set_option(s, o, arg[1]) ? 2 : 0;
    }
    return 1;
}

bool options_parse(session *s, int argc, char **argv)
{
    bool only_files = false;
    s->files = (const char *const *)argv;
    s->first_count = SIZE_MAX;
    for (int i = 0; i < argc;) {
        char *arg = argv[i];
        int taken = 1;
        if (only_files || arg[0] != '-' || !arg[1])
            argv[s->file_count++] = arg;
        else if (strcmp(arg, "--") == 0 && s->verb->two_lists && s->first_count == SIZE_MAX)
            s->first_count = s->file_count;
        else if (strcmp(arg, "--") == 0)
            only_files = true;
        else
            taken = arg[1] == '-' ? parse_long(s, argv + i) : parse_short(s, argv + i);
        if (taken == 0)
            return false;
        i += taken;
    }
    argv[s->file_count] = NULL;
    if (s->file_count > s->verb->max_args && !s->set->help) {
        diag_error("too many arguments, from '%s' on: %s takes %s", argv[s->verb->max_args],
                   s->verb->name, s->verb->args[0] ? s->verb->args : "none");
        return false;
    }
    return true;
}

/* Print the choices of an option, wrapped into indented lines. */
static void help_choices(out *o, const option_spec *row)
{
    size_t column = HELP_WIDTH;

    out_char(o, ':');
    for (size_t n = 0; row->choice(n); n++) {
        const char *name = row->choice(n);
        if (n > 0)
            out_char(o, ',');
        if (column + strlen(name) + 3 > HELP_WIDTH) {
            out_printf(o, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else {
            out_char(o, ' ');
        }
        out_str(o, name);
        column += strlen(name) + 2;
    }
}

void options_help(out *o, const option_spec *row)
{
    for (; row->name; row++) {
        char left[64], choices[256] = "";
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", row->letter ? '-' : ' ',
                 row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
                 row->value ? " " : "", row->value ? row->value : "");
        if (row->choice)
            options_join(choices, sizeof choices, row->choice);
        bool fits = HELP_INDENT + strlen(row->summary) + 2 + strlen(choices) < HELP_WIDTH;
        out_printf(o, "  %-24s  %s", left, row->summary);
        if (row->choice && fits)
            out_printf(o, ": %s", choices);
        else if (row->choice)
            help_choices(o, row);
        out_char(o, '\n');
    }
}
