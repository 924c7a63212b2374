/*
 * parallel.c - parallel [LIBRARY]: three threads of OpenMP, two of which wait for the first one at
 * each of some barriers; those of a library that is loaded, if it is named. For tests/calls.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

typedef void run_fn(void);

void run_parallel(void);

#ifdef PARALLEL
void run_parallel(void)
{
    enum { ROUNDS = 5, PAUSE_US = 20000 };
#pragma omp parallel num_threads(3)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp master
        usleep(PAUSE_US);
#pragma omp barrier
    }
}
#else
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    run_fn *run = library ? __extension__(run_fn *) dlsym(library, "run_parallel") : NULL;
    if (!run) {
        fputs("parallel: the library cannot be loaded\n", stderr);
        return 1;
    }
    run();
    return 0;
}
#endif
