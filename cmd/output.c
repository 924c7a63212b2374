#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"
#include "pack.h"
#include "trace_limits.h"
#include "utf8.h"
#include "verb.h"

typedef struct output_file {
    int fd;
    int error;    /* errno of the first write that failed */
    char *name;   /* for messages */
    char *final;  /* where the file is to appear; NULL when written in place */
    bool limited; /* it failed because of output_limit */
    bool foreign; /* it failed because somebody else's link is in its place */
    bool terminal;
    char rest[4]; /* of a rune that was cut between two writes to a terminal */
    size_t rest_size;
    pack *pack; /* NULL: not compressed */
} output_file;

/* How many bytes may be written, and were. */
static uint64_t limit = UINT64_MAX, written;

/* The temporary file, for the signal handler: set and cleared with signals blocked. */
static char *temporary;

/* A folder that was made for the output, or NULL: likewise. */
static const char *made_folder;

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
    if (made_folder)
        rmdir(made_folder);
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    sigaction(signal, &usual, NULL);
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
    /* SA_RESETHAND would have a second signal, if it comes at once, kill the program before the
     * handler has begun. */
    struct sigaction action = {.sa_handler = remove_and_die};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&action.sa_mask, ending_signals[i]);
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
    if (size > limit - written) {
        f->limited = true;
        f->error = EFBIG;
        return false;
    }
    written += size;
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

/* Whether these bytes may become a rune with those to come. */
static bool is_cut(const char *bytes, size_t size)
{
    unsigned char first = (unsigned char)bytes[0];
    return size < (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1);
}

/* Take the runes out of f->rest that are whole, with end all bytes; returns how many bytes of piece
 * they take. What a terminal would act on, but for ends of lines and tabs, becomes \\xNN. */
static size_t show_rest(output_file *f, char *piece, bool end)
{
    size_t used = 0;
    while (f->rest_size > 0) {
        uint32_t rune = 0;
        size_t length = utf8_decode(f->rest, f->rest_size, &rune);
        if (length == 0 && !end && is_cut(f->rest, f->rest_size))
            break;
        bool plain = length > 0 && (rune == '\n' || rune == '\t' || !utf8_acts(rune));
        length += length == 0;
        for (size_t i = 0; i < length; i++)
            used += (size_t)sprintf(piece + used, plain ? "%c" : "\\x%02x",
                                    (unsigned char)f->rest[i]);
        f->rest_size -= length;
        memmove(f->rest, f->rest + length, f->rest_size);
    }
    return used;
}

static bool write_terminal(output_file *f, const char *bytes, size_t size, bool end)
{
    char piece[4096];
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        f->rest[f->rest_size++] = bytes[i];
        used += show_rest(f, piece + used, false);
        if (used + 4 * sizeof f->rest >= sizeof piece) {
            if (!write_all(f, piece, used))
                return false;
            used = 0;
        }
    }
    if (end)
        used += show_rest(f, piece + used, true);
    return write_all(f, piece, used);
}

static bool output_write(void *ctx, const void *bytes, size_t size)
{
    output_file *f = ctx;
    bool done = f->pack       ? pack_write(f->pack, bytes, size)
                : f->terminal ? write_terminal(f, bytes, size, false)
                              : write_all(f, bytes, size);
    if (!done && !f->error)
        f->error = errno;
    /* The library takes the reason from errno. */
    errno = f->error;
    return done;
}

/* Frames, from pack.c. */
static bool write_packed(void *ctx, const void *bytes, size_t size)
{
    return write_all(ctx, bytes, size);
}

/* Create ".NAME.XXXXXX" beside f->final. */
static int create_temporary(output_file *f, mode_t mode)
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
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

/* Whether somebody else put a link or a pipe there, in a folder that all may write to: the kernel
 * refuses to follow it only where it is told to (fs.protected_symlinks). */
static bool is_foreign(const char *path)
{
    struct stat there, folder;
    char parent[PATH_MAX];
    if (lstat(path, &there) != 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode))
        return false;
    const char *slash = strrchr(path, '/');
    int length = slash == path ? 1 : slash ? (int)(slash - path) : 0;
    snprintf(parent, sizeof parent, "%.*s", length ? length : 1, length ? path : ".");
    if (stat(parent, &folder) != 0)
        return false;
    bool shared = (folder.st_mode & S_ISVTX) && (folder.st_mode & (S_IWOTH | S_IWGRP));
    return shared && there.st_uid != geteuid() && there.st_uid != folder.st_uid;
}

/* Open what is no regular file, as long as it is the one that was looked at. */
static bool open_in_place(output_file *f, const char *path, const struct stat *looked_at)
{
    struct stat opened;
    f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (f->fd < 0 || fstat(f->fd, &opened) != 0)
        return false;
    errno = EAGAIN;
    return opened.st_dev == looked_at->st_dev && opened.st_ino == looked_at->st_ino;
}

/* Open path where it is, or a temporary file that is to take its place. */
static bool open_path(output_file *f, const char *path)
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    f->foreign = is_foreign(path);
    if (f->foreign) {
        errno = EACCES;
        return false;
    }
    if (exists && !S_ISREG(existing.st_mode))
        return open_in_place(f, path, &existing);
    /* A symbolic link keeps pointing to the file; the file it points to is replaced. */
    f->final = exists ? realpath(path, NULL) : strdup(path);
    if (!f->final)
        return false;
    if (exists && access(f->final, W_OK) != 0)
        return false;
    f->fd = create_temporary(f, exists ? existing.st_mode & 0777 : 0666);
    if (f->fd < 0)
        return false;
    /* Beyond what the umask left of it. */
    if (exists && fchmod(f->fd, existing.st_mode & 0777) != 0)
        return false;
    return true;
}

static void forget(output *o)
{
    output_file *f = o->file;
    out_free(&o->out);
    pack_free(f->pack);
    free(f->final);
    free(f->name);
    free(f);
    o->file = NULL;
}

static void say_failed(const output_file *f)
{
    const char *quote = f->fd == STDOUT_FILENO ? "" : "'";
    if (f->limited) {
        diag_error("cannot write %s%s%s: more than %llu bytes of output, the limit set "
                   "[system.limit]",
                   quote, f->name, quote, (unsigned long long)limit);
        diag_note("--max-output SIZE raises the limit");
        return;
    }
    diag_error("cannot write %s%s%s: %s [system.write]", quote, f->name, quote,
               f->foreign ? "it is another user's link or pipe in a shared folder"
                          : strerror(f->error));
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

static void end_pack(output_file *f)
{
    if (f->pack && !f->error && !pack_end(f->pack) && !f->error)
        f->error = errno;
}

/* Write what is left (a file that is not kept aside), close, settle. */
static void finish(output *o, bool keep)
{
    output_file *f = o->file;
    out_wait(&o->out);
    if (keep || !f->final) {
        if (!out_flush(&o->out) && !f->error)
            f->error = o->out.error ? o->out.error : ENOMEM; /* dropped before it came to us */
        end_pack(f);
    }
    if (f->terminal && !f->error)
        write_terminal(f, "", 0, true);
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

void output_limit(uint64_t bytes)
{
    limit = bytes;
}

int output_open(output *o, const char *path, bool zstd, bool binary)
{
    output_file *f = calloc(1, sizeof *f);
    o->file = f;
    if (!f) {
        limits_no_memory();
        return EXIT_SYSTEM;
    }
    bool standard = !path || strcmp(path, "-") == 0;
    f->fd = standard ? STDOUT_FILENO : -1;
    f->name = strdup(standard ? "standard output" : path);
    if (!f->name) {
        free(f);
        o->file = NULL;
        limits_no_memory();
        return EXIT_SYSTEM;
    }
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
    f->terminal = isatty(f->fd);
    if (zstd)
        f->pack = pack_new(o->large, write_packed, f);
    if (!out_init(&o->out, output_write, f) || (zstd && !f->pack))
        return open_failed(o, ENOMEM);
    /* And compresses, too: libzstd's own threads do not survive refused memory. */
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
    end_pack(f);
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

bool output_has_bytes(const output *o)
{
    return waiting_count > 0 || (o->file && o->out.written + o->out.used > 0);
}

void output_folder(const char *path)
{
    sigset_t before;
    hold_signals(&before);
    made_folder = path;
    if (path)
        catch_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
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
