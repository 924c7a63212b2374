/* temp_file.h - temporary files without a name. Inline, so that formats and cmd can use it. */
#ifndef GT_TEMP_FILE_H
#define GT_TEMP_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder of temporary files, if the user has set that one (NULL: none). */
static inline const char *gt_temp_folder(const char *folder)
{
    if (!folder)
        folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/var/tmp";
}

/* Creates a file and removes its name. Signals are blocked between the two. */
static inline int gt_temp_file_unlinked(const char *folder)
{
    char path[4096];
    sigset_t all, before;
    int length = snprintf(path, sizeof path, "%s/gotrace-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = mkostemp(path, O_CLOEXEC);
    int error = errno;
    if (fd >= 0)
        unlink(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

/* Opens a file for reading and writing in that folder. Returns its descriptor, or -1 with errno
 * set. */
static inline int gt_temp_file(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* Not every file system supports files without a name. */
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
        fd = gt_temp_file_unlinked(folder);
    return fd;
}

#endif
