/*
 * truncates.c - truncates PLUGIN SNAPSHOT: calls a function of the plugin, lets the recorder, its
 * parent, write that snapshot, for which it reads the symbols of the plugin, calls another function
 * and truncates the plugin. With -DPLUGIN: the plugin. For tests/record.
 */
#define _GNU_SOURCE
#include <unistd.h>

#if defined PLUGIN

void plugin_first(void);
void plugin_second(void);

void plugin_first(void)
{
    usleep(1000);
    __asm__ volatile(""); /* no tail call */
}

void plugin_second(void)
{
    usleep(1000);
    __asm__ volatile("");
}

#else

#include <dlfcn.h>
#include <signal.h>

static int call(void *plugin, const char *name)
{
    void (*function)(void) = (__extension__(void (*)(void)) dlsym(plugin, name));
    if (!function)
        return 1;
    function();
    return 0;
}

int main(int argc, char **argv)
{
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plugin || call(plugin, "plugin_first") != 0)
        return 1;
    usleep(100000); /* the records are replayed */
    kill(getppid(), SIGUSR2);
    while (access(argv[2], F_OK) != 0)
        usleep(10000);
    if (call(plugin, "plugin_second") != 0 || truncate(argv[1], 4096) != 0)
        return 1;
    _exit(5); /* without calling anything of the plugin */
}

#endif
