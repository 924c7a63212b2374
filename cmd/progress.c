#include "cmd/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/human.h"
#include "formats/common/utf8.h"

static const double first_after = 1.0, again_after = 0.1; /* seconds */

/* Guards what is shown: one thread may read while another one writes to the terminal. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    bool off, files_only, active;
    bool shown; /* guarded */
    size_t done_files, files;
    double files_begun;
    const char *name;
    double begun, drawn;
    const _Atomic uint64_t *written; /* NULL: unknown */
    uint64_t before;                 /* bytes read before the first byte was written */
    gotrace_progress_fn observer;    /* NULL: none */
    void *ctx;                       /* of the observer */
} state;

void progress_off(void)
{
    state.off = true;
}

void progress_observe(gotrace_progress_fn observer, void *ctx)
{
    state.observer = observer;
    state.ctx = ctx;
}

void progress_begin(const char *name)
{
    if (state.off || state.files_only)
        return;
    state.active = isatty(STDERR_FILENO);
    state.name = name;
    state.begun = human_clock();
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

static void show(const char *line)
{
    pthread_mutex_lock(&lock);
    fprintf(stderr, "\r%.79s\033[K", line);
    fflush(stderr);
    state.shown = true;
    pthread_mutex_unlock(&lock);
}

/* Whether it is time to draw the line, if work began then. */
static bool is_due(double begun, double now)
{
    if (now - begun < first_after || now - state.drawn < again_after)
        return false;
    state.drawn = now;
    return true;
}

/* Draws how many files are done. */
static void draw_files(double elapsed)
{
    char line[80], left[32] = "";
    if (state.done_files > 0)
        snprintf(left, sizeof left, ", %.0f s left",
                 elapsed * ((double)state.files / (double)state.done_files - 1.0));
    snprintf(line, sizeof line, "%zu of %zu files%s", state.done_files, state.files, left);
    show(line);
}

static void draw(double elapsed, uint64_t done, uint64_t total)
{
    char name[32], bytes[24], all[24], rate[24], output[48], line[200];
    const char *slash = strrchr(state.name, '/');
    utf8_escape(name, sizeof name, slash ? slash + 1 : state.name);
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
    show(line);
}

void progress_update(uint64_t done, uint64_t total)
{
    if (state.observer)
        state.observer(state.ctx, done, total);
    if (!state.active)
        return;
    if (state.written && *state.written == 0)
        state.before = done;
    double now = human_clock();
    if (is_due(state.begun, now))
        draw(now - state.begun, done, total);
}

void progress_files(size_t done, size_t count)
{
    double now = human_clock();
    if (done == 0)
        state.files_begun = now;
    state.done_files = done;
    state.files = count;
    if (done == count)
        progress_clear();
    else if (count > 1 && !state.off && isatty(STDERR_FILENO) && is_due(state.files_begun, now))
        draw_files(now - state.files_begun);
}

void progress_files_only(void)
{
    state.files_only = true;
}

void progress_clear(void)
{
    pthread_mutex_lock(&lock);
    if (state.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        state.shown = false;
    }
    pthread_mutex_unlock(&lock);
}

/* Between files the line remains. */
void progress_end(void)
{
    if (state.off || state.files_only)
        return;
    if (state.done_files == state.files)
        progress_clear();
    state.active = false;
}
