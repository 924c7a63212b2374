// Part of gotrace; BSD-3-Clause.

package main

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

func init() {
	programs["syscall.blocking-http"] = program{run: readDevice}
	programs["syscall.blocking-pool"] = program{run: func(s int) {
		pool(6, 0, func(context.Context, int) {
			compute(time.Millisecond)
			syncDisk(ms(s, 5, 12, 40))
		})
	}}
	programs["syscall.blocking-cli"] = program{run: fileLock}
	programs["network.wait-http"] = program{run: func(s int) {
		serve(8, 15*time.Millisecond, func(context.Context, int) {
			compute(time.Millisecond)
			fetch(ms(s, 3, 12, 60))
		})
	}}
	programs["network.wait-pool"] = program{run: func(s int) {
		pool(8, 10*time.Millisecond, func(context.Context, int) {
			compute(time.Millisecond)
			get(ms(s, 3, 12, 60))
		})
	}}
	programs["network.wait-fanout"] = program{run: func(s int) {
		serve(6, 20*time.Millisecond, func(context.Context, int) {
			var done sync.WaitGroup
			done.Add(4)
			for i := 0; i < 4; i++ {
				go func() {
					compute(200 * time.Microsecond)
					get(ms(s, 5, 20, 60))
					done.Done()
				}()
			}
			done.Wait()
		})
	}}
	programs["timer.wait-ticker"] = program{run: func(s int) {
		serve(8, 15*time.Millisecond, func(context.Context, int) {
			poll := time.NewTicker(4 * time.Millisecond)
			defer poll.Stop()
			for i := 0; i < at(s, 1, 4, 15); i++ {
				<-poll.C
				compute(500 * time.Microsecond)
			}
		})
	}}
	programs["timer.wait-http"] = program{run: func(s int) {
		serve(8, 15*time.Millisecond, func(context.Context, int) {
			compute(time.Millisecond)
			for i := 0; i < at(s, 1, 4, 20); i++ {
				time.Sleep(3 * time.Millisecond)
			}
		})
	}}
	programs["timer.wait-pool"] = program{run: func(s int) {
		pool(8, 10*time.Millisecond, func(ctx context.Context, _ int) {
			compute(time.Millisecond)
			select {
			case <-time.After(ms(s, 3, 12, 60)):
			case <-ctx.Done():
			}
		})
	}}
}

// Each request reads from a device that is slow, and blocks a thread meanwhile.
func readDevice(s int) {
	order("tick", ms(s, 4, 6, 12))
	fd := int(device.Fd())
	check(syscall.SetNonblock(fd, false))
	serve(8, time.Millisecond, func(context.Context, int) {
		compute(ms(s, 3, 1, 1))
		var data [1]byte
		_, err := syscall.Read(fd, data[:])
		check(err)
	})
}

// syncDisk takes as long as an fsync of a slow disk.
func syncDisk(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

// Six goroutines use a file that each locks for itself.
func fileLock(s int) {
	self, err := os.Executable()
	check(err)
	for i := 0; i < 6; i++ {
		go func() {
			fd, err := syscall.Open(self, syscall.O_RDONLY, 0)
			check(err)
			for {
				compute(500 * time.Microsecond)
				for syscall.Flock(fd, syscall.LOCK_EX) == syscall.EINTR {
				}
				syncDisk(ms(s, 2, 5, 15))
				check(syscall.Flock(fd, syscall.LOCK_UN))
			}
		}()
	}
}
