// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"time"
)

func init() {
	programs["channel.bottleneck-pipeline"] = program{run: slowStage}
	programs["channel.bottleneck-http"] = program{run: smallPool}
	programs["channel.bottleneck-semaphore"] = program{run: semaphore}
	programs["channel.bottleneck-cli"] = program{run: slowSource}
}

// One goroutine of a pipeline has more to do than the others, which wait for it.
func slowStage(s int) { slowLine(s, 0).run() }

func slowLine(s int, leak int) line {
	other := us(s, 80, 40, 10)
	return line{batch: 1, parse: other, dedup: 400 * time.Microsecond, save: other, leak: leak}
}

// Requests are passed to too few goroutines, which wait for the network.
func smallPool(s int) {
	jobs := make(chan chan bool)
	for i := 0; i < at(s, 4, 2, 1); i++ {
		go query(jobs)
	}
	serve(16, 5*time.Millisecond, func(_ context.Context, n int) {
		reply := make(chan bool)
		jobs <- reply
		<-reply
		compute(100 * time.Microsecond)
	})
}

func query(jobs <-chan chan bool) {
	for reply := range jobs {
		fetch(8 * time.Millisecond)
		reply <- true
	}
}

// Requests wait for one of the places of a channel, to call another server.
func semaphore(s int) {
	places := make(chan bool, at(s, 4, 2, 1))
	serve(16, 5*time.Millisecond, func(context.Context, int) {
		places <- true
		fetch(8 * time.Millisecond)
		<-places
		compute(100 * time.Microsecond)
	})
}

// Six goroutines wait for the one that finds the files.
func slowSource(s int) {
	files := make(chan int)
	for i := 0; i < 6; i++ {
		go hashFiles(files, us(s, 90, 45, 10))
	}
	go walk(files)
}

func walk(files chan<- int) {
	for n := 0; ; n++ {
		compute(300 * time.Microsecond)
		files <- n
	}
}

func hashFiles(files <-chan int, cost time.Duration) {
	for range files {
		compute(cost)
	}
}
