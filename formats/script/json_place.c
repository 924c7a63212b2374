/* json_place.c - see json_place.h. */
#include "formats/script/json_place.h"

#include <string.h>

static void step(json_place *p)
{
    if (p->gaps && p->at == p->gaps->at) {
        p->line = p->gaps->line;
        p->column = p->gaps->column;
        p->gaps++;
    }
    unsigned char c = (unsigned char)*p->at++;
    if (c == '\n') {
        p->line++;
        p->column = 1;
    } else if ((c & 0xc0) != 0x80) {
        p->column++;
    }
}

static void skip_chars(json_place *p, const char *these)
{
    while (p->at < p->end && *p->at != '\0' && strchr(these, *p->at))
        step(p);
}

static void skip_string(json_place *p)
{
    step(p);
    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\' && p->at + 1 < p->end)
            step(p);
        step(p);
    }
    if (p->at < p->end)
        step(p);
}

void json_place_to_value(json_place *place)
{
    skip_chars(place, " \t\r\n,");
}

void json_place_to(json_place *place, const char *at)
{
    while (place->at < at && place->at < place->end)
        step(place);
}

/* Skips the value that starts here. */
static void skip_value(json_place *place)
{
    size_t depth = 0;
    do {
        skip_chars(place, " \t\r\n,:");
        if (place->at == place->end)
            return;
        char c = *place->at;
        if (c == '"') {
            skip_string(place);
        } else if (c == '{' || c == '[') {
            depth++;
            step(place);
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
            step(place);
        } else {
            do
                step(place);
            while (place->at < place->end && !strchr(" \t\r\n,:]}", *place->at));
        }
    } while (depth > 0);
}

bool json_place_member(json_place *place, const char *name)
{
    json_place p = *place;
    size_t size = strlen(name);
    json_place_to(&p, p.at + 1);
    for (;;) {
        skip_chars(&p, " \t\r\n,");
        if (p.at == p.end || *p.at != '"')
            return false;
        const char *key = p.at + 1;
        skip_string(&p);
        bool found = (size_t)(p.at - key) == size + 1 && memcmp(key, name, size) == 0;
        skip_chars(&p, " \t\r\n:");
        if (found) {
            *place = p;
            return true;
        }
        skip_value(&p);
    }
}
