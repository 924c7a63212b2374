#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/human.h"

static const double first_after = 1.0, again_after = 0.1; /* seconds */

static struct {
    bool off, active, shown;
    const char *name;
    double begun, drawn;
    const _Atomic uint64_t *written; /* NULL: unknown */
    uint64_t before;                 /* bytes read before the first byte was written */
} state;

void progress_off(void)
{
    state.off = true;
}

void progress_begin(const char *name)
{
    /* Then there may be several threads. */
    if (state.off)
        return;
    state.active = isatty(STDERR_FILENO);
    state.name = name;
    state.begun = state.drawn = human_clock();
    state.shown = false;
    state.written = NULL;
}

void progress_output(const _Atomic uint64_t *written)
{
    state.written = written;
}

uint64_t progress_expected(uint64_t written, uint64_t done, uint64_t total)
{
    if (written == 0 || done == 0 || done > total)
        return 0;
    double bytes = (double)written * ((double)total / (double)done);
    return bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX;
}

static void expect(char *text, size_t size, uint64_t done, uint64_t total)
{
    char bytes[24];
    uint64_t expected = state.written && done > state.before
                            ? progress_expected(*state.written, done - state.before,
                                                total - state.before)
                            : 0;
    text[0] = '\0';
    if (expected == 0)
        return;
    human_bytes(bytes, sizeof bytes, expected);
    snprintf(text, size, ", output about %s", bytes);
}

static void draw(double elapsed, uint64_t done, uint64_t total)
{
    char name[32], bytes[24], all[24], rate[24], output[48], line[200];
    const char *slash = strrchr(state.name, '/');
    diag_escape(name, sizeof name, slash ? slash + 1 : state.name);
    human_bytes(bytes, sizeof bytes, done);
    human_bytes(all, sizeof all, total);
    human_bytes(rate, sizeof rate, (uint64_t)((double)done / elapsed));
    expect(output, sizeof output, done, total);
    if (total == 0 || done == 0 || done > total)
        snprintf(line, sizeof line, "%s: %s, %s/s", name, bytes, rate);
    else
        snprintf(line, sizeof line, "%s: %2.0f%%, %s of %s, %s/s, %.0f s left%s", name,
                 100.0 * (double)done / (double)total, bytes, all, rate,
                 elapsed * ((double)total / (double)done - 1.0), output);
    fprintf(stderr, "\r%.79s\033[K", line);
    fflush(stderr);
    state.shown = true;
}

void progress_update(uint64_t done, uint64_t total)
{
    if (!state.active)
        return;
    if (state.written && *state.written == 0)
        state.before = done;
    double now = human_clock();
    if (now - state.begun < first_after || (state.shown && now - state.drawn < again_after))
        return;
    state.drawn = now;
    draw(now - state.begun, done, total);
}

void progress_clear(void)
{
    if (!state.shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    state.shown = false;
}

void progress_end(void)
{
    progress_clear();
    if (!state.off)
        state.active = false;
}
