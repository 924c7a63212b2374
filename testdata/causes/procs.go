// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

func init() {
	programs["cpu.saturated-http"] = program{run: func(s int) {
		serve(at(s, 6, 12, 24), time.Millisecond, func(context.Context, int) { render() })
	}}
	programs["cpu.saturated-pool"] = program{run: func(s int) {
		pool(at(s, 5, 10, 20), 0, func(context.Context, int) { render() })
	}}
	programs["cpu.saturated-cli"] = program{run: func(s int) {
		for i := 0; i < at(s, 6, 12, 32); i++ {
			go oneLoop()
		}
	}}
	programs["cpu.saturated-short"] = program{run: func(s int) {
		serve(at(s, 12, 24, 48), time.Millisecond, func(context.Context, int) { compute(2 * time.Millisecond) })
	}}
	programs["procs.idle-cli"] = program{run: bursts, procs: 8}
	programs["process.frozen-http"] = program{run: func(s int) {
		freezing(s)
		serve(6, 15*time.Millisecond, func(context.Context, int) { compute(2 * time.Millisecond) })
	}}
	programs["process.frozen-pipeline"] = program{run: func(s int) {
		freezing(s)
		programs["healthy-pipeline"].run(3)
	}}
	programs["process.frozen-cli"] = program{run: func(s int) {
		freezing(s)
		programs["healthy-cli"].run(s)
	}}
	programs["stop.long-pipeline"] = program{run: longLoop, debug: "asyncpreemptoff=1"}
	programs["process.frozen-fanout"] = program{run: func(s int) {
		freezing(s)
		programs["healthy-fanout"].run(3)
	}}
	programs["stop.long-pool"] = program{run: metrics, since: 22}
}

func render() { compute(25 * time.Millisecond) }

// The whole process is stopped and continued, as by a quota of a cgroup.
func freezing(s int) {
	order("freeze", ms(s, 25, 40, 80), ms(s, 100, 100, 150))
}

// Short bursts of goroutines, whose procs get a thread late because all threads share one processor.
func bursts(s int) {
	go func() {
		for {
			var done sync.WaitGroup
			for i := 0; i < at(s, 4, 6, 8); i++ {
				done.Add(1)
				go func() {
					defer done.Done()
					compute(time.Millisecond)
				}()
			}
			done.Wait()
		}
	}()
}

// scan has no point at which it can be preempted.
//
//go:noinline
func scan(n int) (x uint64) {
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// The collector must wait for a loop that cannot be preempted.
func longLoop(s int) {
	debug.SetGCPercent(5) // each piece of garbage is a collection
	begin := time.Now()
	scan(1 << 20)
	loop := ms(s, 8, 20, 40)
	n := int(loop * (1 << 20) / time.Since(begin))
	collect := make(chan bool, 1)
	go func() {
		for range collect {
			garbage = make([]byte, 1<<20)
		}
	}()
	go func() {
		for {
			collect <- true
			scan(n)
			time.Sleep(ms(s, 12, 12, 8))
		}
	}()
	programs["healthy-pipeline"].run(3)
}

var garbage []byte

// The world is stopped again and again for metrics.
func metrics(s int) {
	go func() {
		var stats runtime.MemStats
		for {
			runtime.ReadMemStats(&stats)
			compute(us(s, 60, 20, 2))
		}
	}()
	pool(1, 0, func(context.Context, int) { compute(500 * time.Microsecond) })
}
