#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/exit_status.h"
#include "cmd/memory.h"
#include "cmd/new_file.h"
#include "cmd/pack.h"
#include "cmd/progress.h"
#include "formats/common/utf8.h"

typedef struct output_file {
    int fd;
    int error;     /* errno of the first failed write */
    char *name;    /* for messages */
    bool is_new;   /* appears when it is complete (new_file.h) */
    bool limited;  /* failed because of output_limit */
    bool foreign;  /* failed because its path is another user's link */
    bool spooled;  /* failed because of a temporary file */
    bool standard; /* standard output */
    bool terminal;
    char rest[4]; /* bytes of an incomplete character */
    size_t rest_size;
    pack *pack; /* NULL: not compressed */
} output_file;

/* Bytes that may be written, and bytes written. */
static uint64_t limit = UINT64_MAX;
static _Atomic uint64_t written;

static bool ends_with_pipe;

/* End the program by SIGPIPE, from any thread. */
static void end_by_sigpipe(void)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
    raise(SIGPIPE);
}

static bool write_all(output_file *f, const char *bytes, size_t size)
{
    if (atomic_fetch_add(&written, size) + size > limit) {
        f->limited = true;
        f->error = EFBIG;
        return false;
    }
    while (size > 0) {
        ssize_t n = write(f->fd, bytes, size);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            /* Another process may have made standard output non-blocking. */
            struct pollfd wait = {.fd = f->fd, .events = POLLOUT};
            poll(&wait, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            f->error = n == 0 ? EIO : errno;
            if (f->standard && f->error == EPIPE && ends_with_pipe)
                end_by_sigpipe();
            return false;
        }
    }
    return true;
}

/* Whether more bytes can complete the character. */
static bool is_cut(const char *bytes, size_t size)
{
    unsigned char first = (unsigned char)bytes[0];
    return size < (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1);
}

/* Move the complete characters of f->rest, or with end all bytes, to piece; returns the number of
 * bytes. Characters that affect a terminal, except line ends and tabs, become \\xNN. */
static size_t show_rest(output_file *f, char *piece, bool end)
{
    size_t used = 0;
    while (f->rest_size > 0) {
        uint32_t rune = 0;
        size_t length = utf8_decode(f->rest, f->rest_size, &rune);
        if (length == 0 && !end && is_cut(f->rest, f->rest_size))
            break;
        bool plain = length > 0 && (rune == '\n' || rune == '\t' || !utf8_alters_display(rune));
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
    progress_clear();
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
    /* The library reads the reason from errno. */
    errno = f->error;
    return done;
}

/* Compressed bytes, from pack.c. */
static bool write_packed(void *ctx, const void *bytes, size_t size)
{
    return write_all(ctx, bytes, size);
}

/* Whether others may write to the folder, also if they may not remove the files of others there. */
static bool is_shared(const struct stat *folder)
{
    return folder->st_mode & S_IWOTH || (folder->st_mode & S_ISVTX && folder->st_mode & S_IWGRP);
}

/* Whether the path is another user's link or pipe in a folder that everyone may write to. The
 * kernel rejects it only if it is configured to (fs.protected_symlinks). Of what was a link before,
 * only a link can be one's own: others may have replaced theirs since. */
static bool is_foreign(const char *path, bool was_link)
{
    struct stat there, folder;
    char parent[PATH_MAX];
    if (lstat(path, &there) != 0 || (was_link && !S_ISLNK(there.st_mode)))
        return was_link;
    if (S_ISREG(there.st_mode) || S_ISDIR(there.st_mode))
        return false;
    const char *slash = strrchr(path, '/');
    int length = slash == path ? 1 : slash ? (int)(slash - path) : 0;
    snprintf(parent, sizeof parent, "%.*s", length ? length : 1, length ? path : ".");
    if (stat(parent, &folder) != 0)
        return false;
    return is_shared(&folder) && there.st_uid != geteuid() && there.st_uid != folder.st_uid;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    errno = EAGAIN;
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Open a file that is not regular, if it is still the one that was checked. */
static bool open_in_place(output_file *f, const char *path, const char *final,
                          const struct stat *expected)
{
    struct stat opened;
    /* A link of /proc is that of a descriptor, and may have no path. */
    const bool named = lstat(final, &opened) == 0;
    f->fd = open(named ? final : path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (named ? O_NOFOLLOW : 0));
    return f->fd >= 0 && fstat(f->fd, &opened) == 0 && is_same(&opened, expected);
}

char *output_path(const char *path, bool *foreign)
{
    enum { MOST_LINKS = 40 }; /* the limit of the kernel */
    char target[PATH_MAX], *at = strdup(path);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        ssize_t size = readlink(at, target, sizeof target - 1);
        const bool ends = size < 0 && (errno == ENOENT || errno == EINVAL);
        *foreign = is_foreign(at, size >= 0);
        if (ends && !*foreign)
            return at;
        char *next = NULL;
        if (*foreign) {
            errno = EACCES;
        } else if (size >= 0) {
            const char *slash = strrchr(at, '/');
            int folder = slash && target[0] != '/' ? (int)(slash - at) + 1 : 0;
            target[size] = '\0';
            if (asprintf(&next, "%.*s%s", folder, at, target) < 0)
                next = NULL;
        }
        free(at);
        if (!next)
            return NULL;
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* Open a new file, which replaces the existing one (NULL: there is none). */
static bool open_new(output_file *f, unsigned group, const char *path, const char *final,
                     const struct stat *existing)
{
    struct stat now;
    if (existing &&
        (lstat(final, &now) != 0 || !is_same(&now, existing) || access(final, W_OK) != 0))
        return false;
    f->fd = new_file_open(group, final, path, existing ? existing->st_mode & 0777 : 0666);
    f->is_new = f->fd >= 0;
    /* Restore mode bits removed by the umask. What another user permits is not for our file. */
    return f->is_new && (!existing || existing->st_uid != geteuid() ||
                         fchmod(f->fd, existing->st_mode & 0777) == 0);
}

/* Open the path in place, or a new file that will replace it. */
static bool open_path(output_file *f, unsigned group, const char *path)
{
    struct stat existing;
    /* A symbolic link is kept; its target is replaced or created. */
    char *final = output_path(path, &f->foreign);
    if (!final)
        return false;
    bool exists = stat(path, &existing) == 0, done = exists || errno == ENOENT;
    if (exists && !S_ISREG(existing.st_mode))
        done = open_in_place(f, path, final, &existing);
    else if (done)
        done = open_new(f, group, path, final, exists ? &existing : NULL);
    int error = errno;
    free(final);
    errno = error;
    return done;
}

bool output_is_taken(const output *o, const char *path)
{
    bool foreign;
    if (!path || strcmp(path, "-") == 0)
        return o->file && o->file->standard;
    char *final = output_path(path, &foreign);
    bool taken = final && new_file_awaits(final);
    free(final);
    return taken;
}

bool output_move(output *o, const char *path)
{
    output_file *f = o->file;
    if (!f->is_new)
        return true;
    char *name = strdup(path);
    if (!name || !new_file_move(o->group, path, path)) {
        free(name);
        return false;
    }
    free(f->name);
    f->name = name;
    return true;
}

static void release(output *o)
{
    output_file *f = o->file;
    out_free(&o->out);
    pack_free(f->pack);
    free(f->name);
    free(f);
    o->file = NULL;
}

static void report_failure(const output_file *f)
{
    const char *quote = f->standard ? "" : "'";
    if (f->limited) {
        diag_error("cannot write %s%s%s: the output exceeds the limit of %llu bytes "
                   "[system.limit]",
                   quote, f->name, quote, (unsigned long long)limit);
        diag_note("--max-output SIZE raises the limit");
        return;
    }
    /* Nothing was wrong with the file: what was to be written did not fit into memory. */
    if (f->error == ENOMEM) {
        memory_report_refused();
        return;
    }
    if (f->spooled) {
        diag_error("cannot write a temporary file: %s [system.write]", strerror(f->error));
        return;
    }
    diag_error("cannot write %s%s%s: %s [system.write]", quote, f->name, quote,
               f->foreign ? "it is another user's link or pipe in a shared folder"
                          : strerror(f->error));
}

static void end_pack(output_file *f)
{
    if (f->pack && !f->error && !pack_end(f->pack) && !f->error)
        f->error = errno;
}

/* Write buffered data, unless the file is discarded, and close. */
static void finish(output *o, bool keep)
{
    output_file *f = o->file;
    out_wait(&o->out);
    if (keep || !f->is_new) {
        /* Lost before the write callback. */
        if (!out_flush(&o->out) && !f->error) {
            f->error = o->out.error ? o->out.error : ENOMEM;
            f->spooled = f->error != ENOMEM;
        }
        end_pack(f);
    }
    if (f->terminal && !f->error)
        write_terminal(f, "", 0, true);
    /* A full disk may be reported only by close. */
    if (close(f->fd) != 0 && !f->error)
        f->error = errno;
    f->fd = -1;
}

static int open_failed(output *o, int error)
{
    o->file->error = error;
    report_failure(o->file);
    new_files_discard(o->group);
    if (o->file->fd > STDERR_FILENO)
        close(o->file->fd);
    release(o);
    return EXIT_SYSTEM;
}

void output_end_with_pipe(bool ends)
{
    ends_with_pipe = ends;
}

bool output_ends_with_pipe(void)
{
    return ends_with_pipe;
}

void output_limit(uint64_t bytes)
{
    limit = bytes;
}

int output_open(output *o, const char *path, bool binary)
{
    output_file *f = calloc(1, sizeof *f);
    o->file = f;
    if (!f) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    bool standard = !path || strcmp(path, "-") == 0;
    f->standard = standard;
    f->fd = standard ? STDOUT_FILENO : -1;
    f->name = strdup(standard ? "standard output" : path);
    if (!f->name) {
        free(f);
        o->file = NULL;
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (!standard && !open_path(f, o->group, path))
        return open_failed(o, errno);
    packing how = o->packing || standard ? o->packing : packing_of_path(path, NULL);
    if ((binary || how) && isatty(f->fd)) {
        diag_error("the output is binary and %s is a terminal; use -o OUT", f->name);
        release(o);
        return EXIT_USAGE;
    }
    f->terminal = isatty(f->fd);
    if (how)
        f->pack = pack_new(how, o->large, write_packed, f);
    if (!out_init(&o->out, output_write, f) || (how && !f->pack))
        return open_failed(o, ENOMEM);
    /* The writer thread also compresses: libzstd's own threads do not survive failed
     * allocations. */
    if (!f->terminal)
        out_write_in_thread(&o->out);
    return EXIT_SOUND;
}

int output_next(output *o, const char *path)
{
    finish(o, true);
    if (o->file->error)
        return EXIT_SYSTEM; /* output_close reports it */
    release(o);
    o->several = true;
    return output_open(o, path, false);
}

int output_end(output *o, bool keep)
{
    if (!o->file)
        return EXIT_SOUND;
    finish(o, keep);
    int status = keep && o->file->error ? EXIT_SYSTEM : EXIT_SOUND;
    if (status != EXIT_SOUND)
        report_failure(o->file);
    release(o);
    return status;
}

int output_commit(unsigned group, bool keep)
{
    output_file f = {.fd = -1};
    if (!keep) {
        new_files_discard(group);
        return EXIT_SOUND;
    }
    f.error = new_files_commit(group, &f.name);
    if (f.error)
        report_failure(&f);
    free(f.name);
    return f.error ? EXIT_SYSTEM : EXIT_SOUND;
}

bool output_has_bytes(const output *o)
{
    return o->several || (o->file && (o->out.written + o->out.used > 0 || o->out.error));
}

int output_close(output *o, bool keep)
{
    output_file *f = o->file;
    if (!f) {
        new_files_discard(o->group);
        return EXIT_SOUND;
    }
    if (f->fd >= 0)
        finish(o, keep);
    char *failed = NULL;
    if (!keep || f->error)
        new_files_discard(o->group);
    else
        f->error = new_files_commit(o->group, &failed);
    if (failed) {
        /* Of several, not the last. */
        free(f->name);
        f->name = failed;
    }
    int status = f->error ? EXIT_SYSTEM : EXIT_SOUND;
    if (f->error)
        report_failure(f);
    release(o);
    return status;
}
