// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"time"
)

func init() {
	programs["gc.cpu-http"] = program{run: func(s int) {
		heapGoal(at(s, 25, 15, 5))
		serve(4, time.Millisecond, func(context.Context, int) { decode(20) })
	}}
	programs["gc.cpu-pool"] = program{run: func(s int) {
		heapGoal(at(s, 25, 15, 5))
		pool(2, 0, func(context.Context, int) { decode(10) })
	}}
	programs["gc.cpu-crowd"] = program{run: func(s int) {
		heapGoal(at(s, 15, 10, 5))
		pool(6, 0, func(context.Context, int) { decode(10) })
	}}
	programs["gc.cpu-cli"] = program{run: func(s int) {
		heapGoal(at(s, 25, 15, 5))
		for i := 0; i < 2; i++ {
			go func() {
				for {
					decode(10)
				}
			}()
		}
	}}
	programs["gc.cpu-limit"] = program{run: func(s int) {
		memoryLimit(int64(at(s, 10, 6, 3)) << 20)
		pool(2, 0, func(context.Context, int) { decode(10) })
	}}
	programs["gc.assist-http"] = program{run: func(s int) {
		heapGoal(at(s, 20, 10, 5))
		go oneLoop()
		serve(2, ms(s, 6, 12, 24), func(context.Context, int) { build() })
	}}
	programs["gc.assist-pool"] = program{run: func(s int) {
		heapGoal(at(s, 20, 10, 5))
		go oneLoop()
		pool(3, ms(s, 5, 10, 24), func(context.Context, int) { build() })
	}}
}

type node struct {
	next *node
	data [5]int64
}

var live []*node

// heapGoal keeps 100,000 objects alive, and starts a collection when the heap has grown by so
// many percent.
func heapGoal(percent int) {
	for i := 0; i < 100000; i++ {
		live = append(live, &node{})
	}
	debug.SetGCPercent(percent)
}

// memoryLimit sets a limit that is so much above what is used, as GOMEMLIMIT in too small a container.
func memoryLimit(margin int64) {
	heapGoal(100)
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(int64(stats.Sys-stats.HeapReleased-stats.HeapIdle) + margin)
}

var document = func() []byte {
	rows := []map[string]interface{}{}
	for i := 0; i < 40; i++ {
		rows = append(rows, map[string]interface{}{"id": i, "name": "item", "tags": []string{"a", "b", "c"}})
	}
	text, err := json.Marshal(rows)
	check(err)
	return text
}()

func decode(times int) {
	for i := 0; i < times; i++ {
		var rows []map[string]interface{}
		check(json.Unmarshal(document, &rows))
	}
}

// build does nothing but allocate.
func build() {
	var list *node
	for i := 0; i < 20000; i++ {
		list = &node{next: list}
	}
}
