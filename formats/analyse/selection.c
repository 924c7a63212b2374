/* selection.c - parses the criteria, and finds times of the wall clock in a trace. */
#include "formats/analyse/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/common/vector.h"

enum { NANO = 1000000000, MOST_SHOWN = 60 };

const char *select_option(size_t by)
{
    static const char *const names[] = {
#define SELECT_NAME(a, b, name, option, value, summary) [SELECT_##name] = (option),
        SELECT_CRITERIA(SELECT_NAME, , )
#undef SELECT_NAME
    };
    return by < SELECT_COUNT ? names[by] : NULL;
}

/* ---- times ------------------------------------------------------------------------------------
 */

/* Parses decimals into nanoseconds, of a unit; returns the end. */
static const char *parse_decimals(const char *at, int64_t unit, int64_t *part)
{
    *part = 0;
    for (int64_t step = unit / 10; *at >= '0' && *at <= '9'; at++, step /= 10)
        *part += (*at - '0') * step;
    return at;
}

/* A number, which may have decimals, with a unit; 0 needs none. */
static bool parse_offset(const char *text, int64_t *time)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NANO}};
    const char *at = text;
    int64_t whole = 0, part = 0, unit = strcmp(text, "0") == 0;

    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *at - '0', &whole))
            return false;
    const char *decimals = *at == '.' ? ++at : NULL;
    at += decimals ? strspn(at, "0123456789") : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(at, units[i].name) == 0)
            unit = units[i].ns;
    if (decimals)
        parse_decimals(decimals, unit, &part);
    return unit > 0 && at > text && !__builtin_mul_overflow(whole, unit, time) &&
           !__builtin_add_overflow(*time, part, time);
}

/* Parses exactly that many digits, a number of at most that; returns what follows, or NULL. */
static const char *parse_digits(const char *at, int count, int most, int *number)
{
    *number = 0;
    for (int i = 0; at && i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return NULL;
        *number = *number * 10 + (at[i] - '0');
    }
    return at && *number <= most ? at + count : NULL;
}

static const char *parse_mark(const char *at, const char *marks)
{
    return at && *at && strchr(marks, *at) ? at + 1 : NULL;
}

/* "Z", "+01:00", or nothing: the local zone. Sets the seconds since 1970. */
static bool parse_zone(const char *at, struct tm *tm, int64_t *seconds)
{
    int hours, minutes, offset = 0;
    if (!at)
        return false;
    if (!*at) {
        tm->tm_isdst = -1;
        *seconds = mktime(tm);
        return true;
    }
    if (*at == '+' || *at == '-') {
        const char *end = parse_digits(at + 1, 2, 23, &hours);
        end = parse_digits(parse_mark(end, ":"), 2, 59, &minutes);
        if (!end || *end)
            return false;
        offset = (hours * 60 + minutes) * (*at == '-' ? -60 : 60);
    } else if ((*at != 'Z' && *at != 'z') || at[1]) {
        return false;
    }
    *seconds = (int64_t)timegm(tm) - offset;
    return true;
}

/* A date and time as in RFC 3339; seconds and zone may be missing. */
static bool parse_wall(const char *text, select_time *time)
{
    struct tm tm = {0};
    int year, month, day;
    const char *at = parse_mark(parse_digits(text, 4, 9999, &year), "-");
    at = parse_mark(parse_digits(at, 2, 12, &month), "-");
    at = parse_mark(parse_digits(at, 2, 31, &day), "Tt ");
    at = parse_mark(parse_digits(at, 2, 23, &tm.tm_hour), ":");
    at = parse_digits(at, 2, 59, &tm.tm_min);
    if (at && *at == ':')
        at = parse_digits(at + 1, 2, 59, &tm.tm_sec);
    time->nanoseconds = 0;
    if (at && *at == '.' && at[1] >= '0' && at[1] <= '9')
        at = parse_decimals(at + 1, NANO, &time->nanoseconds);
    if (!at || month == 0 || day == 0)
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    /* The 31st of a shorter month becomes a day of the next one. */
    struct tm date = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = day};
    timegm(&date);
    time->wall = true;
    return date.tm_mday == day && parse_zone(at, &tm, &time->seconds);
}

bool select_time_parse(const char *text, select_time *time)
{
    *time = (select_time){0};
    return parse_offset(text, &time->ns) || parse_wall(text, time);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static int by_range(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Parses an id; returns what follows, or NULL. */
static const char *parse_id(const char *at, char letter, uint64_t *id)
{
    char *end;
    if (letter && (*at == letter))
        at++;
    if (*at < '0' || *at > '9')
        return NULL;
    errno = 0;
    *id = strtoull(at, &end, 10);
    return errno == ERANGE ? NULL : end;
}

static bool add_range(select_ids *ids, size_t *room, uint64_t first, uint64_t last)
{
    uint64_t(*ranges)[2] = vector_room(ids->ranges, room, ids->count, sizeof *ranges);
    if (!ranges)
        return false;
    ids->ranges = ranges;
    ranges[ids->count][0] = first;
    ranges[ids->count++][1] = last;
    return true;
}

static void merge_ranges(select_ids *ids)
{
    size_t used = 0;
    if (ids->count == 0)
        return;
    qsort(ids->ranges, ids->count, sizeof *ids->ranges, by_range);
    for (size_t i = 1; i < ids->count; i++) {
        uint64_t *last = ids->ranges[used], *next = ids->ranges[i];
        if (next[0] <= last[1]) {
            last[1] = next[1] > last[1] ? next[1] : last[1];
        } else {
            ids->ranges[++used][0] = next[0];
            ids->ranges[used][1] = next[1];
        }
    }
    ids->count = used + 1;
}

/* Returns false with a message that is empty if memory was refused. */
static bool parse_ids(select_ids *ids, const char *text, select_by by, char *message, size_t size)
{
    static const char letters[SELECT_COUNT] = {
        [SELECT_GOROUTINE] = 'G', [SELECT_PROC] = 'P', [SELECT_THREAD] = 'M'};
    /* Procs and threads are signed in the interface of the library. */
    bool from_zero = by == SELECT_PROC || by == SELECT_THREAD;
    uint64_t least = from_zero ? 0 : 1, most = from_zero ? INT64_MAX : UINT64_MAX;
    size_t room = 0;
    for (const char *at = text;; at++) {
        uint64_t first = 0, last = 0;
        const char *end = parse_id(at, letters[by], &first);
        last = first;
        if (end && *end == '-')
            end = parse_id(end + 1, letters[by], &last);
        if (!end || (*end && *end != ',') || first < least || last > most) {
            snprintf(message, size,
                     "--%s takes ids from %d to %" PRIu64
                     " and ranges, such as 7,10-12, not '%.*s'",
                     select_option(by), (int)least, most, MOST_SHOWN, text);
            return false;
        }
        if (last < first) {
            snprintf(message, size, "--%s: the range %" PRIu64 "-%" PRIu64 " is empty",
                     select_option(by), first, last);
            return false;
        }
        if (!add_range(ids, &room, first, last))
            return false;
        if (!*end)
            break;
        at = end;
    }
    merge_ranges(ids);
    return true;
}

/* Copies the item of a list up to its comma; a backslash makes the next character a part of it.
 * Returns what follows, NULL if memory is refused. */
static const char *copy_item(const char *at, char **item, bool *escaped)
{
    char *copy = malloc(strlen(at) + 1);
    size_t size = 0;
    *item = copy;
    *escaped = false;
    if (!copy)
        return NULL;
    for (; *at && *at != ','; at++) {
        if (*at == '\\' && at[1]) {
            *escaped = true;
            at++;
        }
        copy[size++] = *at;
    }
    copy[size] = '\0';
    return at;
}

/* Names; of tasks ids too. */
static bool parse_names(selection *s, const char *text, select_by by, char *message, size_t size)
{
    select_names *names = &s->names[by];
    select_ids *ids = &s->ids[by];
    size_t room = 0, id_room = 0;
    for (const char *at = text;; at++) {
        char *item;
        bool escaped;
        uint64_t id;
        at = copy_item(at, &item, &escaped);
        char **list = at ? vector_room(names->names, &room, names->count, sizeof *list) : NULL;
        if (!list) {
            free(item);
            return false;
        }
        names->names = list;
        list[names->count++] = item;
        if (by == SELECT_TASK && !escaped && item[0] && !item[strspn(item, "0123456789")]) {
            if (!parse_id(item, 0, &id) || id == 0) {
                snprintf(message, size,
                         "--task takes ids from 1 to %" PRIu64 ", or names, not '%.*s'", UINT64_MAX,
                         MOST_SHOWN, item);
                return false;
            }
            free(item);
            names->count--;
            if (!add_range(ids, &id_room, id, id))
                return false;
        }
        if (!*at)
            break;
    }
    merge_ranges(ids);
    if (names->count > 0)
        qsort(names->names, names->count, sizeof *names->names, by_name);
    return true;
}

bool select_has_id(const select_ids *ids, uint64_t id)
{
    size_t low = 0, high = ids->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id > ids->ranges[middle][1])
            low = middle + 1;
        else
            high = middle;
    }
    return low < ids->count && id >= ids->ranges[low][0];
}

/* Like strcmp. */
static int compare(const char *listed, const char *name, size_t size)
{
    int difference = strncmp(listed, name, size);
    return difference ? difference : listed[size] != '\0';
}

bool select_has_name(const select_names *names, const char *name, size_t size)
{
    size_t low = 0, high = names->count;
    /* No name of a list contains a NUL. */
    if (memchr(name ? name : "", '\0', name ? size : 0))
        return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int difference = compare(names->names[middle], name ? name : "", name ? size : 0);
        if (difference == 0)
            return true;
        if (difference < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* ---- the selection ----------------------------------------------------------------------------
 */

static bool parse_time(select_time *time, const char *text, select_by by, char *message,
                       size_t size)
{
    if (select_time_parse(text, time))
        return true;
    snprintf(message, size,
             "--%s takes a time since the start of the trace, such as 1.5s, 20ms, 7us or 0ns, or "
             "of the wall clock, such as 2026-11-22T10:00:00Z, not '%.*s'",
             select_option(by), MOST_SHOWN, text);
    return false;
}

static bool parse_function(selection *s, const char *text, char *message, size_t size)
{
    char why[120];
    size_t column = 0;
    s->function = pattern_new(text, why, sizeof why, &column);
    if (!s->function && why[0])
        snprintf(message, size, "--function: column %zu of the regular expression: %s", column,
                 why);
    return s->function;
}

static bool parse(selection *s, select_by by, const char *text, char *message, size_t size)
{
    switch (by) {
    case SELECT_FROM: return parse_time(&s->from, text, by, message, size);
    case SELECT_UNTIL: return parse_time(&s->until, text, by, message, size);
    case SELECT_FUNCTION: return parse_function(s, text, message, size);
    case SELECT_TASK:
    case SELECT_REGION: return parse_names(s, text, by, message, size);
    case SELECT_GOROUTINE:
    case SELECT_PROC:
    case SELECT_THREAD:
    case SELECT_GENERATION: return parse_ids(&s->ids[by], text, by, message, size);
    case SELECT_COUNT: break;
    }
    return false;
}

/* Whether both times are on one clock and not in order. */
static bool is_reversed(const select_time *from, const select_time *until)
{
    if (from->wall != until->wall)
        return false;
    if (!from->wall)
        return until->ns <= from->ns;
    return until->seconds < from->seconds ||
           (until->seconds == from->seconds && until->nanoseconds <= from->nanoseconds);
}

bool selection_parse(selection *s, const char *const texts[SELECT_COUNT], char *message,
                     size_t room)
{
    *s = (selection){0};
    message[0] = '\0';
    for (size_t by = 0; by < SELECT_COUNT; by++) {
        if (!texts[by])
            continue;
        s->given |= SELECT_BIT(by);
        s->texts[by] = texts[by];
        if (!parse(s, (select_by)by, texts[by], message, room))
            return false;
    }
    const char *from = texts[SELECT_FROM], *until = texts[SELECT_UNTIL];
    if (!until || !is_reversed(&s->from, &s->until))
        return true;
    snprintf(message, room, "--until %.*s must be after %s%.*s", MOST_SHOWN, until,
             from ? "--from " : "the start", MOST_SHOWN, from ? from : "");
    return false;
}

void selection_free(selection *s)
{
    for (size_t by = 0; by < SELECT_COUNT; by++) {
        for (size_t i = 0; i < s->names[by].count; i++)
            free(s->names[by].names[i]);
        free(s->names[by].names);
        free(s->ids[by].ranges);
    }
    pattern_free(s->function);
    *s = (selection){0};
}

/* ---- times of a trace -------------------------------------------------------------------------
 */

/* Reads up to the first event that is not a sync: from then on times are known. */
static select_status read_clock(gotrace_reader *reader, select_clock *clock)
{
    const gotrace_event *e;
    gotrace_status status;
    uint64_t at = 0;
    bool found = false;
    while ((status = gotrace_reader_next(reader, &e)) == GOTRACE_EVENT) {
        if (e->kind != GOTRACE_KIND_SYNC)
            break;
        if (found || !(e->flags & GOTRACE_EVENT_CLOCKS))
            continue;
        const uint64_t *clocks = gotrace_event_details(e)->args;
        found = clocks[2] <= INT32_MAX && clocks[3] < NANO;
        at = clocks[0];
        clock->seconds = (int64_t)clocks[2];
        clock->nanoseconds = (int64_t)clocks[3];
    }
    if (status == GOTRACE_ERROR && gotrace_reader_error(reader)->rule == GOTRACE_RULE_SYSTEM_MEMORY)
        return SELECT_NO_MEMORY;
    if (status != GOTRACE_EVENT || !found)
        return SELECT_NO_CLOCK;
    /* Clocks of a damaged trace may be anything. */
    clock->time = (int64_t)(at - gotrace_reader_summary(reader)->start);
    return SELECT_OK;
}

/* The time in the trace; one that is too far away is the least or greatest one. */
static int64_t time_of(const select_time *t, const select_clock *clock)
{
    int64_t ns;
    if (!t->wall)
        return t->ns;
    if (__builtin_mul_overflow(t->seconds - clock->seconds, (int64_t)NANO, &ns) ||
        __builtin_add_overflow(ns, t->nanoseconds - clock->nanoseconds, &ns) ||
        __builtin_add_overflow(ns, clock->time, &ns))
        return t->seconds < clock->seconds ? INT64_MIN + 1 : INT64_MAX - 1;
    return ns;
}

select_status selection_clock(gotrace_source *source, const gotrace_config *config,
                              select_clock *clock)
{
    gotrace_config quiet = config ? *config : (gotrace_config){0};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    gotrace_reader *reader;
    quiet.on_problem = NULL;
    quiet.on_progress = NULL;
    if (gotrace_reader_open(source, &quiet, &reader, &error) < 0)
        return error.rule == GOTRACE_RULE_SYSTEM_MEMORY ? SELECT_NO_MEMORY : SELECT_NO_CLOCK;
    select_status status = read_clock(reader, clock);
    gotrace_reader_close(reader);
    return status;
}

select_status selection_range(const selection *s, gotrace_source *source,
                              const gotrace_config *config, select_range *range)
{
    select_clock clock = {0};
    *range = (select_range){INT64_MIN, INT64_MAX};
    if (s->from.wall || s->until.wall) {
        select_status status = selection_clock(source, config, &clock);
        if (status != SELECT_OK)
            return status;
    }
    /* From time 0 on is everything. */
    if ((s->given & SELECT_BIT(SELECT_FROM)) && (s->from.wall || s->from.ns > 0))
        range->from = time_of(&s->from, &clock);
    if (s->given & SELECT_BIT(SELECT_UNTIL))
        range->until = time_of(&s->until, &clock);
    return range->until <= range->from ? SELECT_NO_TIME : SELECT_OK;
}
