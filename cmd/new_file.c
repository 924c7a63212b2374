#include "cmd/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct new_file {
    unsigned group;
    int fd;          /* of an unnamed file, else -1 */
    char *temporary; /* temporary name, or NULL */
    char *final;
    char *name;    /* name for messages */
    bool replaced; /* it has appeared, and temporary is the replaced file */
} new_file;

/* Read by the signal handler: changed with signals blocked. Other threads receive no signals
 * (thread.h). */
static struct {
    new_file *list;
    size_t count;
    size_t unnamed; /* unnamed files that are open */
    char **folders;
    size_t folder_count;
} files;

static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, before);
}

static void release_signals(const sigset_t *before)
{
    int error = errno;
    sigprocmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static void remove_and_exit(int signal)
{
    for (size_t i = 0; i < files.count; i++)
        if (files.list[i].temporary)
            unlink(files.list[i].temporary);
    for (size_t i = files.folder_count; i > 0; i--)
        rmdir(files.folders[i - 1]);
    struct sigaction default_action = {.sa_handler = SIG_DFL};
    sigemptyset(&default_action.sa_mask);
    sigaction(signal, &default_action, NULL);
    raise(signal);
}

static bool ends_program(int signal)
{
    switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGURG:
    case SIGWINCH: return false;
    default: return true;
    }
}

static void catch_signals(void)
{
    /* With SA_RESETHAND, a second signal could kill the program before the handler runs. */
    struct sigaction action = {.sa_handler = remove_and_exit};
    sigfillset(&action.sa_mask);
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        struct sigaction before;
        /* A signal that the parent ignores (nohup) stays ignored; handlers of a sanitizer are
         * kept. */
        if (ends_program(signal) && sigaction(signal, NULL, &before) == 0 &&
            before.sa_handler == SIG_DFL)
            sigaction(signal, &action, NULL);
    }
}

/* Length of the folder part of a path, with the slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* False if there is no such folder. */
static bool stat_folder(const char *path, struct stat *found)
{
    int length = folder_length(path);
    char *folder;
    if (asprintf(&folder, "%.*s", length ? length : 1, length ? path : ".") < 0)
        return false;
    bool exists = stat(folder, found) == 0;
    free(folder);
    return exists;
}

bool new_file_awaits(const char *path)
{
    struct stat wanted, found;
    if (!stat_folder(path, &wanted))
        return false;
    for (size_t i = 0; i < files.count; i++) {
        const char *other = files.list[i].final;
        if (strcmp(other + folder_length(other), path + folder_length(path)) == 0 &&
            stat_folder(other, &found) && found.st_dev == wanted.st_dev &&
            found.st_ino == wanted.st_ino)
            return true;
    }
    return false;
}

/* The path in /proc through which an unnamed file can be linked. */
static const char *name_of_fd(char name[32], int fd)
{
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return name;
}

/* Open an unnamed file and keep a second descriptor of it; -1 if not possible. */
static int open_unnamed(new_file *f, mode_t mode)
{
    struct rlimit most;
    char *folder, name[32];
    if (getrlimit(RLIMIT_NOFILE, &most) == 0 && files.unnamed >= most.rlim_cur / 2)
        return -1;
    int length = folder_length(f->final);
    if (asprintf(&folder, "%.*s", length ? length : 1, length ? f->final : ".") < 0)
        return -1;
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    free(folder);
    if (fd < 0)
        return -1;
    if (access(name_of_fd(name, fd), F_OK) == 0)
        f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (f->fd < 0) {
        close(fd);
        return -1;
    }
    files.unnamed++;
    return fd;
}

/* Create ".NAME.gotrace-XXXXXX" in the folder of f->final, as a link to f->fd or as a new file, and
 * set f->temporary. Returns a descriptor or 0; -1 with errno set. */
static int create_temporary(new_file *f, mode_t mode)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    char *path, name[32];
    int folder = folder_length(f->final), created = -1;
    if (asprintf(&path, "%.*s.%.200s.gotrace-XXXXXX", folder, f->final, f->final + folder) < 0)
        return -1;
    char *random = path + strlen(path) - 6;
    for (int attempt = 0; attempt < 100 && created < 0; attempt++) {
        if (getrandom(random, 6, 0) != 6)
            break;
        for (int i = 0; i < 6; i++)
            random[i] = letters[random[i] & 31];
        created = f->fd >= 0
                      ? linkat(AT_FDCWD, name_of_fd(name, f->fd), AT_FDCWD, path, AT_SYMLINK_FOLLOW)
                      : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (created < 0 && errno != EEXIST)
            break;
    }
    if (created >= 0)
        f->temporary = path;
    else
        free(path);
    return created;
}

static void free_names(new_file *f)
{
    free(f->temporary);
    free(f->final);
    free(f->name);
}

int new_file_open(unsigned group, const char *path, const char *name, mode_t mode)
{
    sigset_t before;
    int fd = -1;
    hold_signals(&before);
    new_file *more = realloc(files.list, (files.count + 1) * sizeof *more);
    if (more) {
        new_file *f = &more[files.count];
        files.list = more;
        *f = (new_file){.group = group, .fd = -1, .final = strdup(path), .name = strdup(name)};
        if (f->final && f->name && (fd = open_unnamed(f, mode)) < 0)
            fd = create_temporary(f, mode);
        if (fd >= 0)
            files.count++;
        else
            free_names(f);
    }
    if (fd >= 0)
        catch_signals();
    release_signals(&before);
    return fd;
}

bool new_file_move(unsigned group, const char *path, const char *name)
{
    sigset_t before;
    char *final = strdup(path), *named = strdup(name);
    const bool good = final && named;
    hold_signals(&before);
    for (size_t i = 0; i < files.count && good; i++) {
        new_file *f = &files.list[i];
        if (f->group != group)
            continue;
        free(f->final);
        free(f->name);
        f->final = final;
        f->name = named;
        final = named = NULL;
        break;
    }
    release_signals(&before);
    free(final);
    free(named);
    return good;
}

/* Exchange a file with the existing one; false with errno set. */
static bool replace(new_file *f)
{
    int done = renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->final, RENAME_EXCHANGE);
    f->replaced = done == 0;
    return f->replaced;
}

/* Let a file appear, the only one of its group or one of several; false with errno set. */
static bool commit(new_file *f, bool several)
{
    char name[32];
    if (!f->temporary) {
        if (linkat(AT_FDCWD, name_of_fd(name, f->fd), AT_FDCWD, f->final, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST || create_temporary(f, 0) < 0)
            return false;
    }
    if (several && replace(f))
        return true;
    if (several && errno != ENOENT && errno != EINVAL && errno != ENOSYS)
        return false;
    if (rename(f->temporary, f->final) != 0)
        return false;
    free(f->temporary);
    f->temporary = NULL;
    return true;
}

/* Undo commit. */
static void take_back(new_file *f)
{
    if (!f->replaced)
        unlink(f->final);
    else if (rename(f->temporary, f->final) == 0) {
        free(f->temporary);
        f->temporary = NULL;
    }
}

/* Move the files of the group to the end of the list, in order; returns the number of the others.
 */
static size_t gather(unsigned group)
{
    size_t others = 0;
    for (size_t i = 0; i < files.count; i++) {
        if (files.list[i].group == group)
            continue;
        new_file f = files.list[i];
        memmove(&files.list[others + 1], &files.list[others], (i - others) * sizeof f);
        files.list[others++] = f;
    }
    return others;
}

/* Release the files from that one on, and remove temporary names. */
static void release_from(size_t first)
{
    for (size_t i = first; i < files.count; i++) {
        new_file *f = &files.list[i];
        if (f->temporary)
            unlink(f->temporary);
        if (f->fd >= 0) {
            close(f->fd);
            files.unnamed--;
        }
        free_names(f);
    }
    files.count = first;
    if (first == 0) {
        free(files.list);
        files.list = NULL;
    }
}

int new_files_commit(unsigned group, char **failed)
{
    sigset_t before;
    hold_signals(&before);
    size_t first = gather(group), done = first;
    while (done < files.count && commit(&files.list[done], files.count - first > 1))
        done++;
    int error = done < files.count ? errno : 0;
    *failed = NULL;
    if (error != 0) {
        *failed = files.list[done].name;
        files.list[done].name = NULL;
    }
    while (error != 0 && done > first)
        take_back(&files.list[--done]);
    release_from(first);
    release_signals(&before);
    return error;
}

void new_files_discard(unsigned group)
{
    sigset_t before;
    hold_signals(&before);
    release_from(gather(group));
    release_signals(&before);
}

bool new_file_folder(const char *path)
{
    sigset_t before;
    hold_signals(&before);
    char *copy = strdup(path);
    char **more = copy ? realloc(files.folders, (files.folder_count + 1) * sizeof *more) : NULL;
    if (more) {
        files.folders = more;
        files.folders[files.folder_count++] = copy;
        catch_signals();
    } else {
        free(copy);
    }
    release_signals(&before);
    return more != NULL;
}

void new_file_folder_drop(void)
{
    sigset_t before;
    hold_signals(&before);
    free(files.folders[--files.folder_count]);
    release_signals(&before);
}

void new_file_folders_end(bool keep)
{
    sigset_t before;
    hold_signals(&before);
    for (; files.folder_count > 0; free(files.folders[--files.folder_count]))
        if (!keep)
            rmdir(files.folders[files.folder_count - 1]);
    free(files.folders);
    files.folders = NULL;
    release_signals(&before);
}
