/* folder.c - output folders. */
#include "cmd/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cmd/diag.h"
#include "cmd/memory.h"
#include "cmd/new_file.h"
#include "formats/common/packing.h"

bool folder_is_valid(const char *folder)
{
    if (strcmp(folder, "-") != 0)
        return true;
    diag_error(
        "-o - is not possible: several files are written to a folder (for a folder with this name, "
        "use ./-)");
    return false;
}

bool folder_make(const char *folder)
{
    struct stat there;
    /* A signal that arrives once the folder is created removes it. */
    bool is_new = lstat(folder, &there) != 0;
    if (is_new && !new_file_folder(folder)) {
        memory_report_refused();
        return false;
    }
    if (mkdir(folder, 0777) == 0)
        return true;
    int error = errno;
    if (is_new)
        new_file_folder_drop();
    if (error == EEXIST) {
        /* mkdir also fails if the path is a dangling link. */
        error = stat(folder, &there) != 0 ? errno : S_ISDIR(there.st_mode) ? 0 : ENOTDIR;
        if (error == 0)
            return true;
    }
    diag_error("cannot create the folder '%s': %s [system.write]", folder, strerror(error));
    return false;
}

/* Remove an ending from a longer name. */
static void strip(char *name, const char *ending)
{
    size_t length = strlen(name), size = strlen(ending);
    if (length > size && strcasecmp(name + length - size, ending) == 0)
        name[length - size] = '\0';
}

void folder_stem(char *stem, size_t size, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *name = slash ? slash + 1 : file;
    bool standard = !file || strcmp(file, "-") == 0 || !*name;
    snprintf(stem, size, "%.200s", standard ? "trace" : name);
    size_t length;
    packing_of_path(stem, &length);
    stem[length] = '\0';
    strip(stem, ".trace");
}

bool folder_may_write(const char *path, bool force)
{
    struct stat there;
    if (force || lstat(path, &there) != 0)
        return true;
    diag_error("'%s' already exists; --force replaces it", path);
    return false;
}
