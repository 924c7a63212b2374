// Part of gotrace; BSD-3-Clause.

//go:build go1.25
// +build go1.25

package main

import (
	"fmt"
	"runtime/trace"
	"strings"
	"time"
)

func init() {
	scenarios["flight"] = scenario{what: "snapshots of a flight recorder: FILE, FILE.2, ...",
		traces: flight, debug: shortGenerations}
	scenarios["flightboth"] = scenario{what: "snapshots while a trace is recorded as well",
		traces: flightAndTrace, debug: shortGenerations}
}

// snapshots calls during before each but the first, and writes them to name, name-2, ...
func snapshots(fr *trace.FlightRecorder, count int, name string, during func()) {
	base := strings.TrimSuffix(name, ".trace")
	for i := 1; i <= count; i++ {
		file := name
		if i > 1 {
			file = fmt.Sprintf("%s-%d.trace", base, i)
			during()
		}
		current = create(file)
		_, err := fr.WriteTo(current)
		check(err)
		current.close()
	}
}

// flight takes a snapshot at once, after several generations, and again.
func flight(n int, name string) {
	stop := make(chan struct{})
	for i := 0; i < 5; i++ {
		go func() { <-stop }()
	}
	blockedReader(stop)
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 50 * time.Millisecond})
	check(fr.Start())
	snapshots(fr, 3, name, func() {
		every(5*time.Millisecond, time.Duration(n)*120*time.Millisecond, func(int) { pingPong(2) })
	})
	fr.Stop()
	close(stop)
}

func flightAndTrace(n int, name string) {
	base := strings.TrimSuffix(name, ".trace")
	fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 20 * time.Millisecond})
	check(fr.Start())
	// The snapshots are written while the trace's file is open.
	whole := create(name)
	pingPong(3)
	check(trace.Start(whole))
	snapshots(fr, 2, base+"-2.trace", func() { pingPong(20); time.Sleep(30 * time.Millisecond) })
	trace.Stop()
	fr.Stop()
	whole.close()
}
