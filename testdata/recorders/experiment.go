// Part of gotrace; BSD-3-Clause.

//go:build go1.23
// +build go1.23

package main

import (
	"fmt"
	"runtime"
	"time"
)

func init() {
	scenarios["allocfree"] = scenario{what: "the experiment that traces allocations",
		run: allocations, debug: "traceallocfree=1," + shortGenerations}
}

type pair struct {
	name string
	next *pair
}

// allocations also makes a stack grow and a garbage collection happen, which frees.
func allocations(n int) {
	every(8*time.Millisecond, time.Duration(n)*30*time.Millisecond, func(k int) {
		var list *pair
		for i := 0; i < 5; i++ {
			list = &pair{name: fmt.Sprint(i), next: list}
		}
		runtime.KeepAlive(list)
		together(1, func(int) { deep(30, func() {}) })
		if k == 1 {
			runtime.KeepAlive(make([]byte, 5<<20))
		}
	})
}
