/* verbs.c - the list of verbs, in the order of the help. */
#include <string.h>

#include "cmd/verb.h"

const verb *const verbs[] = {
    &verb_validate, &verb_info,   &verb_diagnose, &verb_stat,    &verb_diff,      &verb_why,
    &verb_find,     &verb_view,   &verb_print,    &verb_convert, &verb_dump,      &verb_synth,
    &verb_split,    &verb_merge,  &verb_repair,   &verb_cut,     &verb_anonymize, &verb_gen,
    &verb_mutate,   &verb_reduce, &verb_record,   &verb_version, &verb_help,      NULL};

const verb *verb_by_name(const char *name)
{
    for (size_t i = 0; verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}
