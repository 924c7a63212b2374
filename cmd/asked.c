#include "cmd/asked.h"

#include <stdio.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/names.h"
#include "cmd/options.h"

static int compare(const struct asked_similar *a, const struct asked_similar *b)
{
    return a->distance != b->distance ? (a->distance < b->distance ? -1 : 1)
                                      : strcmp(a->text, b->text);
}

/* Copies a name as it is written in an expression. */
static void quote(char *to, const char *text, size_t size)
{
    size_t shown = names_cut(text, size, ASKED_LONGEST);
    for (size_t i = 0; i < shown && text[i]; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *to++ = '\\';
        *to++ = text[i];
    }
    strcpy(to, shown < size ? "..." : "");
}

void asked_add(asked_name *asked, const char *text, size_t size)
{
    struct asked_similar added;
    size_t at = 0;
    if (size == strlen(asked->text) && memcmp(text, asked->text, size) == 0)
        asked->exists = true;
    if (asked->exists || size == 0)
        return;
    quote(added.text, text, size);
    added.distance = word_distance(asked->text, added.text);
    while (at < asked->count && compare(&asked->shown[at], &added) < 0)
        at++;
    if (at < asked->count && compare(&asked->shown[at], &added) == 0)
        return;
    asked->others = asked->others || asked->count == ASKED_SHOWN;
    if (at == ASKED_SHOWN)
        return;
    asked->count += asked->count < ASKED_SHOWN;
    for (size_t i = asked->count - 1; i > at; i--)
        asked->shown[i] = asked->shown[i - 1];
    asked->shown[at] = added;
}

void asked_report(const asked_name *asked)
{
    char list[ASKED_SHOWN * (sizeof asked->shown->text + 4)];
    size_t used = 0;
    if (asked->exists || !asked->text[0])
        return;
    for (size_t i = 0; i < asked->count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"", i ? ", " : "",
                                 asked->shown[i].text);
    if (asked->count == 0)
        diag_note("no %s \"%s\", or any other", asked->kind, asked->text);
    else
        diag_note("no %s \"%s\"; there %s %s%s", asked->kind, asked->text,
                  asked->count == 1 ? "is" : "are", list, asked->others ? " and others" : "");
}
