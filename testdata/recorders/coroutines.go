// Part of gotrace; BSD-3-Clause.

//go:build go1.23
// +build go1.23

package main

import (
	"iter"
	"runtime"
	"sync"
	"time"
)

func init() {
	scenarios["iter"] = scenario{what: "coroutines: iter.Pull", run: coroutines}
	scenarios["gensiter"] = scenario{what: "coroutines over many generations",
		run: coroutineGenerations, debug: shortGenerations}
}

func count(n int, between func()) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			between()
			if !yield(i) {
				return
			}
		}
	}
}

// walk yields a tree's nodes, with a coroutine for each level.
func walk(t *node) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if t == nil {
			return
		}
		next, stop := iter.Pull(walk(t.left))
		defer stop()
		for n, ok := next(); ok; n, ok = next() {
			if !yield(n) {
				return
			}
		}
		yield(t)
	}
}

func drain(next func() (int, bool)) (sum int) {
	for v, ok := next(); ok; v, ok = next() {
		sum += v
	}
	return sum
}

func coroutines(n int) {
	for k := 0; k < 2*n; k++ {
		// To the end; stopped early; never begun; with one more value.
		next, stop := iter.Pull(count(4, func() {}))
		drain(next)
		stop()
		next, stop = iter.Pull(count(4, func() {}))
		next()
		stop()
		_, stop = iter.Pull(count(4, func() {}))
		stop()
		next2, stop2 := iter.Pull2(func(yield func(int, string) bool) { yield(1, "one") })
		next2()
		stop2()
		// Nested coroutines, and coroutines that block, yield or make system calls.
		nodes, stopNodes := iter.Pull(walk(tree(4)))
		for _, ok := nodes(); ok; _, ok = nodes() {
		}
		stopNodes()
		for _, between := range []func(){
			runtime.Gosched,
			func() { time.Sleep(20 * time.Microsecond) },
			func() { pingPong(1) },
			func() { calls(2) },
		} {
			next, stop = iter.Pull(count(3, between))
			drain(next)
			stop()
		}
	}
	coroutinesElsewhere(n)
	coroutinesThatFail()
}

// coroutinesElsewhere resumes coroutines in other goroutines than the one that created them.
func coroutinesElsewhere(n int) {
	next, stop := iter.Pull(count(12*n, func() {}))
	var mu sync.Mutex
	together(3, func(int) {
		for k := 0; k < 3*n; k++ {
			mu.Lock()
			next()
			mu.Unlock()
			runtime.Gosched()
		}
	})
	stop()
	together(2, func(int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		next, stop := iter.Pull(count(3, func() { time.Sleep(20 * time.Microsecond) }))
		drain(next)
		stop()
	})
}

func coroutinesThatFail() {
	func() {
		defer func() { recover() }()
		next, stop := iter.Pull(count(2, func() { panic("in the coroutine") }))
		defer stop()
		next()
	}()
	together(1, func(int) {
		next, _ := iter.Pull(count(2, runtime.Goexit))
		next()
	})
	// A coroutine that is never stopped.
	next, _ := iter.Pull(count(2, func() {}))
	next()
}

func coroutineGenerations(n int) {
	waiting, stopWaiting := iter.Pull(count(2, func() {}))
	waiting()
	next, stop := iter.Pull(count(1<<30, func() { time.Sleep(4 * time.Millisecond) }))
	every(time.Millisecond, time.Duration(n)*80*time.Millisecond, func(int) { next() })
	stop()
	waiting()
	stopWaiting()
}
