#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "diag.h"
#include "verb.h"

typedef struct output_file {
    int fd;
    int error;        /* errno of the first write that failed */
    const char *name; /* for messages */
    char *final;      /* where the file is to appear; NULL when written in place */
    ZSTD_CStream *zstd;
    char *packed; /* what zstd gave */
    size_t packed_size;
} output_file;

/* The temporary file, for the signal handler: set and cleared with signals blocked. */
static char *temporary;

/* Files that are done and wait for the others: likewise. */
typedef struct waiting_file {
    char *temporary, *final;
} waiting_file;
static waiting_file *waiting;
static size_t waiting_count;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static void remove_and_die(int signal)
{
    if (temporary)
        unlink(temporary);
    for (size_t i = 0; i < waiting_count; i++)
        unlink(waiting[i].temporary);
    /* SA_RESETHAND has restored the default action. */
    raise(signal);
}

static void hold_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&set, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction before;
        /* What the parent made ignored (nohup) stays ignored. */
        if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        sigaction(ending_signals[i], &action, NULL);
    }
}

static bool write_all(output_file *f, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(f->fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            /* Somebody made our standard output non-blocking. */
            struct pollfd wait = {.fd = f->fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            f->error = n == 0 ? EIO : errno;
            return false;
        }
    }
    return true;
}

/* Compress; with ZSTD_e_end all that is left. */
static bool write_zstd(output_file *f, const void *bytes, size_t size, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left;
    do {
        ZSTD_outBuffer packed = {f->packed, f->packed_size, 0};
        left = ZSTD_compressStream2(f->zstd, &packed, &in, end);
        if (ZSTD_isError(left)) {
            f->error = ENOMEM;
            return false;
        }
        if (!write_all(f, f->packed, packed.pos))
            return false;
    } while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return true;
}

static bool output_write(void *ctx, const void *bytes, size_t size)
{
    output_file *f = ctx;
    bool done = f->zstd ? write_zstd(f, bytes, size, ZSTD_e_continue) : write_all(f, bytes, size);
    /* The library takes the reason from errno. */
    errno = f->error;
    return done;
}

/* Compress beside what makes the output, at the level that comes closest to keeping up with it: by the
 * usual one a timeline takes a third more time and is not smaller. A libzstd that has no threads does
 * it as it comes. Parts of that size are held two a thread or so. */
static void use_other_threads(ZSTD_CStream *zstd)
{
    enum { LEVEL = 1, THREADS = 2, PART = 2 << 20 };
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
    if (!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_nbWorkers, THREADS)))
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_jobSize, PART);
}

static bool open_zstd(output_file *f)
{
    f->packed_size = ZSTD_CStreamOutSize();
    f->packed = malloc(f->packed_size);
    f->zstd = ZSTD_createCStream();
    if (!f->packed || !f->zstd ||
        ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1)))
        return false;
    use_other_threads(f->zstd);
    return true;
}

/* Create ".NAME.XXXXXX" beside f->final. */
static int create_temporary(output_file *f)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    const char *slash = strrchr(f->final, '/');
    int folder = slash ? (int)(slash - f->final) + 1 : 0;
    char *path = NULL;
    if (asprintf(&path, "%.*s.%.200s.gotrace-XXXXXX", folder, f->final, f->final + folder) < 0)
        return -1;
    char *random = path + strlen(path) - 6;
    sigset_t before;
    hold_signals(&before);
    int fd = -1;
    for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
        if (getrandom(random, 6, 0) != 6)
            break;
        for (int i = 0; i < 6; i++)
            random[i] = letters[random[i] & 31];
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    int error = errno;
    if (fd >= 0) {
        temporary = path;
        catch_signals();
    } else {
        free(path);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

/* Open path where it is, or a temporary file that is to take its place. */
static bool open_path(output_file *f, const char *path)
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && !S_ISREG(existing.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return f->fd >= 0;
    }
    /* A symbolic link keeps pointing to the file; the file it points to is replaced. */
    f->final = exists ? realpath(path, NULL) : strdup(path);
    if (!f->final)
        return false;
    if (exists && access(f->final, W_OK) != 0)
        return false;
    f->fd = create_temporary(f);
    if (f->fd < 0)
        return false;
    if (exists && fchmod(f->fd, existing.st_mode & 0777) != 0)
        return false;
    return true;
}

static void forget(output *o)
{
    output_file *f = o->file;
    out_free(&o->out);
    ZSTD_freeCStream(f->zstd);
    free(f->packed);
    free(f->final);
    free(f);
    o->file = NULL;
}

static void say_failed(const output_file *f)
{
    const char *quote = f->fd == STDOUT_FILENO ? "" : "'";
    diag_error("cannot write %s%s%s: %s [system.write]", quote, f->name, quote, strerror(f->error));
}

/* Take the temporary file away, or (rename_to) put it in its place. */
static bool settle(const char *rename_to)
{
    sigset_t before;
    hold_signals(&before);
    bool done = true;
    int error = 0;
    if (rename_to && rename(temporary, rename_to) != 0) {
        error = errno;
        done = false;
    }
    if (!rename_to || !done)
        unlink(temporary);
    free(temporary);
    temporary = NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

/* Write what is left (a file that is not kept aside), close, settle. */
static void finish(output *o, bool keep)
{
    output_file *f = o->file;
    out_wait(&o->out);
    if (keep || !f->final) {
        if (!out_flush(&o->out) && !f->error)
            f->error = o->out.error ? o->out.error : ENOMEM; /* dropped before it came to us */
        if (f->zstd && !f->error)
            write_zstd(f, NULL, 0, ZSTD_e_end);
    }
    /* A full disk may show only here. */
    if (close(f->fd) != 0 && !f->error)
        f->error = errno;
    if (temporary && !settle(keep && !f->error ? f->final : NULL) && !f->error)
        f->error = errno;
}

static int open_failed(output *o, int error)
{
    o->file->error = error;
    say_failed(o->file);
    if (temporary)
        settle(NULL);
    if (o->file->fd > STDERR_FILENO)
        close(o->file->fd);
    forget(o);
    return EXIT_SYSTEM;
}

int output_open(output *o, const char *path, bool zstd, bool binary)
{
    output_file *f = calloc(1, sizeof *f);
    o->file = f;
    if (!f) {
        diag_error("out of memory [system.memory]");
        return EXIT_SYSTEM;
    }
    bool standard = !path || strcmp(path, "-") == 0;
    f->name = standard ? "standard output" : path;
    f->fd = standard ? STDOUT_FILENO : -1;
    if (!standard && !open_path(f, path))
        return open_failed(o, errno);
    size_t length = standard ? 0 : strlen(path);
    if (length > 4 && strcasecmp(path + length - 4, ".zst") == 0)
        zstd = true;
    if ((binary || zstd) && isatty(f->fd)) {
        diag_error("the output is binary and %s is a terminal; use -o OUT", f->name);
        forget(o);
        return EXIT_USAGE;
    }
    if (!out_init(&o->out, output_write, f) || (zstd && !open_zstd(f)))
        return open_failed(o, ENOMEM);
    out_write_beside(&o->out);
    return EXIT_SOUND;
}

/* Have the file that is done wait for the others. */
static bool wait_for_others(output_file *f)
{
    sigset_t before;
    hold_signals(&before);
    waiting_file *more = realloc(waiting, (waiting_count + 1) * sizeof *more);
    if (more) {
        waiting = more;
        waiting[waiting_count++] = (waiting_file){temporary, f->final};
        temporary = NULL;
        f->final = NULL;
    } else {
        f->error = ENOMEM;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return more != NULL;
}

/* Put all that wait in their places, or take them away: 0, or the errno of what failed. */
static int settle_waiting(bool keep)
{
    sigset_t before;
    hold_signals(&before);
    int error = 0;
    size_t done = 0;
    while (keep && done < waiting_count && error == 0)
        if (rename(waiting[done].temporary, waiting[done].final) == 0)
            done++;
        else
            error = errno;
    for (size_t i = 0; i < waiting_count; i++) {
        if (!keep || error != 0)
            unlink(i < done ? waiting[i].final : waiting[i].temporary);
        free(waiting[i].temporary);
        free(waiting[i].final);
    }
    free(waiting);
    waiting = NULL;
    waiting_count = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Write what is left and close, but leave the file under its temporary name. */
static void write_rest(output *o)
{
    output_file *f = o->file;
    if (!out_flush(&o->out) && !f->error)
        f->error = o->out.error ? o->out.error : ENOMEM;
    if (f->zstd && !f->error)
        write_zstd(f, NULL, 0, ZSTD_e_end);
    if (close(f->fd) != 0 && !f->error)
        f->error = errno;
}

int output_next(output *o, const char *path, bool zstd)
{
    output_file *f = o->file;
    /* What has no place to appear in, like a pipe, is done with here. */
    bool done = f->final == NULL;
    write_rest(o);
    if (!f->error && !done)
        done = wait_for_others(f);
    if (f->error || !done) {
        f->fd = -1;
        return EXIT_SYSTEM; /* output_close tells */
    }
    forget(o);
    return output_open(o, path, zstd, false);
}

int output_close(output *o, bool keep)
{
    output_file *f = o->file;
    if (!f) {
        settle_waiting(false);
        return EXIT_SOUND;
    }
    if (waiting_count > 0 && keep && f->fd >= 0) {
        write_rest(o);
        if (!f->error && temporary)
            wait_for_others(f);
    } else if (f->fd >= 0) {
        finish(o, keep);
    }
    if (temporary)
        settle(NULL);
    int error = settle_waiting(keep && !f->error);
    if (!f->error)
        f->error = error;
    int status = f->error ? EXIT_SYSTEM : EXIT_SOUND;
    if (f->error)
        say_failed(f);
    forget(o);
    return status;
}
