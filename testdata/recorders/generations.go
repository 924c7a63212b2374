// Part of gotrace; BSD-3-Clause.

//go:build go1.22
// +build go1.22

// Scenarios for the tracers since Go 1.22, which write a generation a second.

package main

import (
	"context"
	"io"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

// shortGenerations makes a generation last 20 ms instead of a second.
const shortGenerations = "traceadvanceperiod=20000000"

func init() {
	scenarios["gens"] = scenario{what: "many generations, and what goes on across them",
		run: acrossGenerations, debug: shortGenerations}
	scenarios["seconds"] = scenario{what: "generations of the usual length", run: quietSeconds}
	scenarios["gensgc"] = scenario{what: "generations that begin while the GC is at work",
		run: gcAcrossGenerations, debug: "traceadvanceperiod=5000000"}
	scenarios["gensprof"] = scenario{what: "a CPU profile over many generations",
		run: profiledGenerations, debug: shortGenerations}
	scenarios["threads"] = scenario{what: "many threads: in system calls, locked, ended",
		run: manyThreads, debug: shortGenerations}
	scenarios["hundreds"] = scenario{what: "300 procs", run: hundredsOfProcs, procs: 300}
}

// every calls f repeatedly, with pauses, until the time is over.
func every(pause, total time.Duration, f func(k int)) {
	end := time.Now().Add(total)
	for k := 0; time.Now().Before(end); k++ {
		f(k)
		time.Sleep(pause)
	}
}

// acrossGenerations makes tasks, regions and every state of a goroutine last beyond the end of
// generations. Many goroutines stay blocked for all of it: only their statuses mention them.
func acrossGenerations(n int) {
	total := time.Duration(n) * 90 * time.Millisecond
	stop := make(chan struct{})
	for i := 0; i < 5; i++ {
		go func() { <-stop }()
		blockedReader(stop)
	}
	ctx, outer := trace.NewTask(context.Background(), "outer")
	region := trace.StartRegion(ctx, "over all generations")
	together(4, func(i int) {
		switch i {
		case 0: // runs on, without a call into the runtime
			for end := time.Now().Add(total); time.Now().Before(end); {
				spin(20000000)
			}
		case 1:
			every(3*time.Millisecond, total, func(k int) {
				inner, task := trace.NewTask(ctx, "inner")
				defer task.End()
				trace.Logf(inner, "round", "%d", k)
				time.Sleep(12 * time.Millisecond)
			})
		case 2:
			ts := syscall.NsecToTimespec(int64(30 * time.Millisecond))
			every(time.Millisecond, total, func(int) { syscall.Nanosleep(&ts, nil) })
		case 3:
			every(5*time.Millisecond, total, func(int) { pingPong(1) })
		}
	})
	region.End()
	outer.End()
	close(stop)
}

func quietSeconds(n int) {
	stop := make(chan struct{})
	blockedReader(stop)
	_, task := trace.NewTask(context.Background(), "three seconds")
	every(150*time.Millisecond, time.Duration(n)*3200*time.Millisecond, func(k int) {
		pingPong(1)
	})
	task.End()
	close(stop)
}

// gcAcrossGenerations keeps a large heap of few objects: its cycles take long, but do not fill the
// trace with sweeps.
func gcAcrossGenerations(n int) {
	large := make([][]*node, 24)
	for i := range large {
		large[i] = make([]*node, 1<<17)
		for k := range large[i] {
			large[i][k] = keep[0]
		}
	}
	together(3, func(i int) {
		every(time.Millisecond, time.Duration(n)*70*time.Millisecond, func(int) {
			runtime.KeepAlive(make([]*node, 1<<17))
		})
	})
	runtime.KeepAlive(large)
}

func profiledGenerations(n int) {
	check(pprof.StartCPUProfile(io.Discard))
	pprof.Do(context.Background(), pprof.Labels("key", "value"), func(context.Context) {
		together(3, func(i int) {
			every(time.Millisecond, time.Duration(n)*100*time.Millisecond, func(int) {
				spin(10000000)
			})
		})
	})
	pprof.StopCPUProfile()
}

// manyThreads has a thread for each of its goroutines: half of them are in long system calls,
// half are locked, and some threads end with their goroutine.
func manyThreads(n int) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := 0; i < 60*n; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			if i%2 == 0 {
				ts := syscall.NsecToTimespec(int64(10+i%7*5) * int64(time.Millisecond))
				syscall.Nanosleep(&ts, nil)
				return
			}
			runtime.LockOSThread()
			if i%3 == 0 {
				defer runtime.UnlockOSThread()
			}
			<-gate
		}(i)
	}
	time.Sleep(30 * time.Millisecond)
	close(gate)
	wg.Wait()
}

func hundredsOfProcs(n int) {
	together(320, func(i int) {
		for k := 0; k < n; k++ {
			spin(100000)
			runtime.Gosched()
		}
	})
}
