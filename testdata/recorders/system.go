// Part of gotrace; BSD-3-Clause.

package main

import (
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

func init() {
	scenarios["net"] = scenario{what: "TCP over the loopback", run: tcp}
	scenarios["http"] = scenario{what: "an HTTP server and its clients", run: web}
	scenarios["syscall"] = scenario{what: "system calls that block: pipes, files, a child", run: systemCalls}
	scenarios["gc"] = scenario{what: "garbage collections, assists, sweeps", run: garbage}
	scenarios["assist"] = scenario{what: "started and stopped while goroutines assist the GC",
		traces: assists}
	scenarios["prof"] = scenario{what: "a CPU profile at the same time", run: profiled}
}

func echo(conn net.Conn) {
	defer conn.Close()
	io.Copy(conn, conn)
}

func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	return l
}

func tcp(n int) {
	l := listen()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go echo(conn)
		}
	}()
	together(4, func(i int) {
		conn, err := net.Dial("tcp", l.Addr().String())
		check(err)
		defer conn.Close()
		buf := make([]byte, 512)
		for k := 0; k < 10*n; k++ {
			_, err := conn.Write(buf)
			check(err)
			_, err = io.ReadFull(conn, buf)
			check(err)
		}
		conn.SetReadDeadline(time.Now().Add(200 * time.Microsecond))
		conn.Read(buf)
	})
	l.Close()
}

func web(n int) {
	l := listen()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Microsecond)
		fmt.Fprintf(w, "hello %s\n", r.URL.Path)
	})}
	go server.Serve(l)
	together(3, func(i int) {
		for k := 0; k < 4*n; k++ {
			res, err := http.Get(fmt.Sprintf("http://%s/%d/%d", l.Addr(), i, k))
			check(err)
			_, err = io.Copy(io.Discard, res.Body)
			check(err)
			res.Body.Close()
		}
	})
	server.Close()
}

// rawPipe is a pipe without the runtime's poller: reads and writes block a thread.
func rawPipe() (r, w int) {
	var p [2]int
	check(syscall.Pipe(p[:]))
	return p[0], p[1]
}

// blockedReader leaves a goroutine in a system call until stop is closed.
func blockedReader(stop chan struct{}) {
	r, w := rawPipe()
	go syscall.Read(r, make([]byte, 1))
	go func() {
		<-stop
		syscall.Close(w)
	}()
}

func systemCalls(n int) {
	r, w := rawPipe()
	back, there := rawPipe()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		buf := make([]byte, 16)
		for {
			k, err := syscall.Read(r, buf)
			if k <= 0 || err != nil {
				return
			}
			time.Sleep(50 * time.Microsecond)
			syscall.Write(there, buf[:k])
		}
	}()
	buf := make([]byte, 16)
	for i := 0; i < 10*n; i++ {
		syscall.Write(w, buf)
		syscall.Read(back, buf)
	}
	syscall.Close(w)
	wg.Wait()
	together(3, func(int) {
		f, err := os.CreateTemp("", "recorder")
		check(err)
		defer os.Remove(f.Name())
		defer f.Close()
		for k := 0; k < 3*n; k++ {
			f.Write(make([]byte, 4096))
			f.Sync()
		}
		f.Seek(0, io.SeekStart)
		io.Copy(io.Discard, f)
	})
	// Longer than the monitor thread waits before it takes the proc away.
	together(3, func(i int) {
		ts := syscall.NsecToTimespec(int64((i + 1) * 300000))
		for k := 0; k < n; k++ {
			syscall.Nanosleep(&ts, nil)
		}
	})
	exec.Command("true").Run()
}

type node struct {
	left, right *node
	pad         [64]byte
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

var keep [8]*node

func garbage(n int) {
	old := debug.SetGCPercent(5)
	together(4, func(i int) {
		for k := 0; k < n; k++ {
			keep[i] = tree(12)
			_ = make([]byte, 1<<18)
		}
	})
	runtime.GC()
	debug.SetGCPercent(old)
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}

// assists records one short file after the other, named like those of restart. All goroutines allocate,
// so that most files begin with goroutines that assist the garbage collector.
func assists(_ int, name string) {
	stop := make(chan struct{})
	for i := 0; i < 6; i++ {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = tree(12)
				}
			}
		}()
	}
	files(3, name, func(i int) {
		time.Sleep(time.Duration(rand.Intn(2000)) * time.Microsecond)
		if i%2 == 0 {
			runtime.GC()
		}
	})
	close(stop)
}

func profiled(n int) {
	check(pprof.StartCPUProfile(io.Discard))
	together(6, func(i int) {
		for k := 0; k < n; k++ {
			spin(20000000)
			pingPong(3)
		}
	})
	pprof.StopCPUProfile()
}
