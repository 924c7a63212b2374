// Part of gotrace; BSD-3-Clause.

//go:build cgo
// +build cgo

package main

/*
#include <pthread.h>
#include <unistd.h>

extern void goCallback(int);

static void call_back(int n) { goCallback(n); }
static void *on_thread(void *n) { usleep(200); goCallback((int)(long)n); return 0; }
static void call_back_from_thread(int n)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, on_thread, (void *)(long)n) == 0)
        pthread_join(thread, 0);
}
*/
import "C"

import "time"

func init() {
	scenarios["cgo"] = scenario{what: "calls to C and back", run: callbacks}
	scenarios["cgothread"] = scenario{what: "calls from threads of C", run: foreignThreads}
}

//export goCallback
func goCallback(n C.int) {
	if n%2 == 0 {
		time.Sleep(50 * time.Microsecond)
	} else {
		pingPong(1)
	}
}

func callbacks(n int) {
	together(3, func(i int) {
		for k := 0; k < 3*n; k++ {
			C.call_back(C.int(k))
		}
	})
}

// foreignThreads makes traces that are inconsistent with the tracers before 1.22: a goroutine that
// represents a C thread appears in a system call that never began.
func foreignThreads(n int) {
	together(3, func(i int) {
		for k := 0; k < 3*n; k++ {
			C.call_back_from_thread(C.int(k + 1))
		}
	})
}
