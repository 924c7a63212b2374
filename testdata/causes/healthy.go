// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

func init() {
	programs["healthy-http"] = program{run: healthyServer}
	programs["healthy-pipeline"] = program{run: func(s int) {
		line{ms(s, 10, 8, 5), at(s, 1, 4, 6), 300 * time.Microsecond, 100 * time.Microsecond,
			200 * time.Microsecond, 0}.run()
	}}
	programs["healthy-pool"] = program{run: healthyPool}
	programs["healthy-cli"] = program{run: func(s int) { go at(s, oneLoop, readFiles, twoHalves)() }}
	programs["healthy-mixed"] = program{run: func(s int) { at(s, ownClients, rareFetches, decodeAll)() }}
	programs["healthy-fanout"] = program{run: fanned}
	programs["healthy-actor"] = program{run: actor}
	programs["healthy-batch"] = program{run: batches}
	programs["healthy-warmup"] = program{run: warmup}
}

// A server that is mostly idle, one with little load, and one with more. Lookups in a shared map are
// short.
func healthyServer(s int) {
	var mu sync.RWMutex
	hits := map[int]int{}
	serve(at(s, 1, 6, 10), ms(s, 150, 25, 20), func(_ context.Context, n int) {
		mu.RLock()
		seen := hits[n%100]
		mu.RUnlock()
		compute(time.Millisecond)
		mu.Lock()
		hits[n%100] = seen + 1
		mu.Unlock()
	})
}

// 16 workers that are mostly idle, workers that decode JSON with the default GOGC, and workers that
// share a map.
func healthyPool(s int) {
	var mu sync.Mutex
	sums := map[int]int{}
	pool(at(s, 16, 4, 4), ms(s, 20, 10, 4), func(_ context.Context, n int) {
		if s == 2 {
			decode(10)
			return
		}
		compute(ms(s, 1, 1, 2))
		mu.Lock()
		sums[n%10]++
		mu.Unlock()
	})
}

// One goroutine computes.
func oneLoop() {
	for {
		compute(time.Millisecond)
	}
}

// One goroutine reads a file again and again, and hashes it.
func readFiles() {
	self, err := os.Executable()
	check(err)
	for {
		file, err := os.Open(self)
		check(err)
		_, err = io.CopyBuffer(sha256.New(), struct{ io.Reader }{file}, make([]byte, 64<<10))
		check(err)
		check(file.Close())
	}
}

// Two goroutines compute, on two procs.
func twoHalves() {
	for {
		var done sync.WaitGroup
		for i := 0; i < 2; i++ {
			done.Add(1)
			go func() {
				defer done.Done()
				compute(20 * time.Millisecond)
			}()
		}
		done.Wait()
	}
}

// A server and its clients are one process.
func ownClients() {
	server := listen(func(context.Context, int) { compute(time.Millisecond) })
	for i := 0; i < 4; i++ {
		go visit(client, fmt.Sprint("http://", server), i, 15*time.Millisecond)
	}
}

// One request of 20 waits for another server.
func rareFetches() {
	serve(6, 20*time.Millisecond, func(_ context.Context, n int) {
		compute(time.Millisecond)
		if n%20 == 0 {
			fetch(2 * time.Millisecond)
		}
	})
}

// One goroutine decodes JSON, with many live objects and the default GOGC.
func decodeAll() {
	heapGoal(100)
	go func() {
		for {
			decode(10)
		}
	}()
}

// Each request waits for four goroutines that share its work.
func fanned(s int) {
	serve(at(s, 2, 4, 8), 20*time.Millisecond, func(context.Context, int) {
		var done sync.WaitGroup
		done.Add(4)
		for i := 0; i < 4; i++ {
			go func() {
				compute(300 * time.Microsecond)
				done.Done()
			}()
		}
		done.Wait()
	})
}

// Each request waits for one goroutine that owns the data, and has little to do.
func actor(s int) {
	requests := make(chan chan bool)
	go own(requests)
	serve(at(s, 2, 4, 8), 25*time.Millisecond, func(context.Context, int) {
		reply := make(chan bool)
		requests <- reply
		<-reply
	})
}

func own(requests <-chan chan bool) {
	for reply := range requests {
		compute(time.Millisecond)
		reply <- true
	}
}

// Every 100 ms there is work for some goroutines.
func batches(s int) {
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			var done sync.WaitGroup
			for i := 0; i < at(s, 2, 4, 8); i++ {
				done.Add(1)
				go func() {
					defer done.Done()
					for i := 0; i < 5; i++ {
						compute(time.Millisecond)
						time.Sleep(time.Millisecond)
					}
				}()
			}
			done.Wait()
		}
	}()
}

// The workers of a pool start one after the other, in the first part of the trace.
func warmup(s int) {
	jobs := make(chan int, 16)
	go dispatch(jobs, 5*time.Millisecond)
	go func() {
		for i := 0; i < at(s, 10, 40, 120); i++ {
			go work(jobs, func(context.Context, int) { compute(time.Millisecond) })
			time.Sleep(ms(s, 40, 10, 3))
		}
	}()
}
