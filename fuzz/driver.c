/*
 * driver.c - replay files with a fuzz target, without a fuzzer.
 *
 *   replay_NAME FILE|FOLDER...
 *
 * If the target fails, the name of the current file is printed on standard error.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

static char current[4096];

static void say_where(int number)
{
    static const char said[] = "replaying ";
    ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);
    written += write(STDERR_FILENO, current, strlen(current));
    written += write(STDERR_FILENO, "\n", 1);
    (void)written;
    signal(number, SIG_DFL);
    raise(number);
}

static bool replay_file(const char *path)
{
    bytes content = {NULL, 0, 0};
    char chunk[16384];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        bytes_write(&content, chunk, got);
    fclose(file);
    /* memory of exactly that size, so that sanitizers detect reads past the end */
    uint8_t *exact = malloc(content.size ? content.size : 1);
    REQUIRE(exact != NULL);
    if (content.size)
        memcpy(exact, content.data, content.size);
    snprintf(current, sizeof current, "%s", path);
    LLVMFuzzerTestOneInput(exact, content.size);
    free(exact);
    bytes_free(&content);
    return true;
}

static bool replay(const char *path)
{
    struct stat st;
    struct dirent **entries;
    bool ok = true;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return replay_file(path);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            ok = replay(inside) && ok;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok && count >= 0;
}

int main(int argc, char **argv)
{
    bool ok = argc > 1;
    fuzz_all_ways = true;
    signal(SIGABRT, say_where);
    signal(SIGSEGV, say_where);
    for (int i = 1; i < argc; i++)
        ok = replay(argv[i]) && ok;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
