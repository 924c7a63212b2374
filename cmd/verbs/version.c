/* version.c - print the versions of program, library and supported traces. */
#include "cmd/verb.h"

typedef struct version_options {
    settings common;
    bool json;
} version_options;

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define PROGRAM_VERSION                                                                            \
    TEXT(GOTRACE_VERSION_MAJOR) "." TEXT(GOTRACE_VERSION_MINOR) "." TEXT(GOTRACE_VERSION_PATCH)

static int run_version(session *s)
{
    bool json = ((const version_options *)s->set)->json;
    int status = output_open(&s->output, s->set->output, false);
    if (status != EXIT_SOUND)
        return status;
    out *o = &s->output.out;
    size_t count;
    const int *versions = gotrace_versions(&count);
    if (json)
        out_printf(o, "{\"program\":\"%s\",\"library\":\"%s\",\"reads\":[", PROGRAM_VERSION,
                   gotrace_version());
    else
        out_printf(o, "gotrace %s\nlibgotrace %s\nreads", PROGRAM_VERSION, gotrace_version());
    for (size_t i = 0; i < count; i++)
        if (json)
            out_printf(o, "%s\"1.%d\"", i ? "," : "", versions[i]);
        else
            out_printf(o, " %s1.%d", i ? "" : "go ", versions[i]);
    out_str(o, json ? "]}\n" : "\n");
    return EXIT_SOUND;
}

static const option_spec options[] = {
    {0, "json", OPTION_FLAG, NULL, offsetof(version_options, json), NULL, "print JSON"},
    {.name = NULL},
};

const verb verb_version = {
    .name = "version",
    .args = "",
    .summary = "print the versions of the program, the library and the traces that they read",
    .options = options,
    .options_size = sizeof(version_options),
    .run = run_version,
};
