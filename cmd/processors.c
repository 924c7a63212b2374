/*
 * processors.c - the number of processors that the program may use. Source of the quota: Linux,
 * Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst (version 1).
 */
#include "cmd/processors.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Reads the first line of a file, without its end; false if there is none. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "re");
    bool got = f && fgets(line, size, f);
    if (f)
        fclose(f);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

/* Of two quotas; 0 is none. */
static double lesser(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

static double quota_of(const char *quota, const char *period)
{
    double q = atof(quota), p = atof(period); /* "max" and -1: none */
    return q > 0 && p > 0 && isfinite(q) && isfinite(p) ? q / p : 0;
}

/* The quota of a control group in processors, 0 if there is none: cpu.max has "QUOTA PERIOD". */
static double quota_v2(const char *folder)
{
    char path[PATH_SIZE + 32], line[64];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (!read_line(path, line, sizeof line))
        return 0;
    char *period = strchr(line, ' ');
    return period ? quota_of(line, period) : 0;
}

static double quota_v1(const char *folder)
{
    char path[PATH_SIZE + 32], quota[64], period[64];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_line(path, quota, sizeof quota))
        return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_line(path, period, sizeof period) ? quota_of(quota, period) : 0;
}

/* The least quota of a control group and those that contain it, 0 if there is none. A group that is
 * not there, because the process has its own view of the folders, has those of the mount. */
static double least_quota(const char *mount, const char *group, double (*quota_in)(const char *))
{
    char folder[PATH_SIZE];
    double least = 0;
    int n = snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") ? group : "");
    if (n < 0 || (size_t)n >= sizeof folder)
        return 0;
    for (;;) {
        least = lesser(least, quota_in(folder));
        char *end = strrchr(folder, '/');
        if (strlen(folder) <= strlen(mount) || !end)
            return least;
        *end = '\0';
    }
}

/* Whether a list "a,b,c" contains "cpu". */
static bool controls_cpu(const char *list, size_t size)
{
    for (const char *end = list + size; list < end; list += strcspn(list, ",:") + 1)
        if (strcspn(list, ",:") == 3 && strncmp(list, "cpu", 3) == 0)
            return true;
    return false;
}

/* The quota by a line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", for version 2 "0::GROUP".
 */
static double quota_by(const char *root, char *line)
{
    char mount[PATH_SIZE];
    line[strcspn(line, "\n")] = '\0';
    const char *list = strchr(line, ':'), *group = list ? strchr(++list, ':') : NULL;
    bool v2 = group == list;
    if (!group || (!v2 && !controls_cpu(list, (size_t)(group - list))))
        return 0;
    int n = snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, v2 ? "" : "/cpu");
    if (n < 0 || (size_t)n >= sizeof mount)
        return 0;
    return least_quota(mount, group + 1, v2 ? quota_v2 : quota_v1);
}

double processors_quota(const char *root)
{
    char line[PATH_SIZE];
    double least = 0;
    int n = snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *f = n > 0 && (size_t)n < sizeof line ? fopen(line, "re") : NULL;
    while (f && fgets(line, sizeof line, f))
        least = lesser(least, quota_by(root, line));
    if (f)
        fclose(f);
    return least;
}

size_t processors_within(size_t count, double quota)
{
    if (quota > 0 && quota < (double)count)
        count = (size_t)quota + (quota > (double)(size_t)quota); /* round up */
    return count > 0 ? count : 1;
}

static size_t affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (size_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t has */
    return online > 0 ? (size_t)online : 1;
}

size_t processors_allowed(void)
{
    return processors_within(affinity(), processors_quota(""));
}
