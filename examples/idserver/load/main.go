// Load measures an idserver: IDs and requests a second by the size of a batch, with
// one client and with many, over HTTP and over its Unix socket.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const usage = `Usage: load [-address ADDRESS] [-socket PATH] [-pid PID] [-for TIME]
            [-clients N]

Asks a running idserver for IDs of the kind item, as text, in batches of 1, 10,
100 and 1000, with 1 and with N clients (default 64), and prints a table. Each
client keeps one connection, and sends a request when it has the whole answer to
the last. The clients take a part of the machine too; with the process ID of the
server, the last column is the CPU time of the server alone, for one request.

Example:
  load -address 127.0.0.1:8080 -socket /run/game/ids.sock -pid $(pidof idserver) -for 5s
`

func main() {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	address := flags.String("address", "", "")
	socket := flags.String("socket", "", "")
	pid := flags.Int("pid", 0, "")
	each := flags.Duration("for", 2*time.Second, "")
	many := flags.Int("clients", 64, "")
	if err := flags.Parse(os.Args[1:]); err != nil || flags.NArg() > 0 || *address == "" && *socket == "" || *many < 1 {
		io.WriteString(os.Stderr, usage)
		os.Exit(2)
	}
	var ways []way
	if *address != "" {
		ways = append(ways, way{"HTTP over loopback TCP", "tcp", *address})
	}
	if *socket != "" {
		ways = append(ways, way{"HTTP over a Unix socket", "unix", *socket})
	}
	if err := measure(os.Stdout, ways, []int{1, *many}, *each, *pid); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// way is how the server is reached.
type way struct{ name, network, address string }

func measure(out io.Writer, ways []way, clients []int, each time.Duration, pid int) error {
	fmt.Fprintln(out, "| | clients | batch | IDs/s | requests/s | median | 99.9 % | server CPU |\n|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, w := range ways {
		for _, n := range clients {
			for _, batch := range []int{1, 10, 100, 1000} {
				before := cpu(pid)
				took, err := w.run(n, batch, each)
				if err != nil {
					return err
				}
				slices.Sort(took)
				at := func(share float64) time.Duration {
					return took[int(share*float64(len(took)-1))].Round(time.Microsecond)
				}
				rate := float64(len(took)) / each.Seconds()
				fmt.Fprintf(out, "| %s | %d | %d | %.0f | %.0f | %s | %s | %s |\n", w.name, n, batch, rate*float64(batch), rate, at(0.5), at(0.999),
					((cpu(pid) - before) / time.Duration(len(took))).Round(100*time.Nanosecond))
			}
		}
	}
	return nil
}

// cpu returns the CPU time of a process so far, or 0 if the system does not have it. Only Linux
// has it in this file: the 14th and 15th field, in hundredths of a second.
func cpu(pid int) (used time.Duration) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third field
	for _, field := range fields[min(11, len(fields)):min(13, len(fields))] {
		ticks, _ := strconv.Atoi(field)
		used += time.Duration(ticks) * time.Second / 100
	}
	return used
}

// run returns how long each request took.
func (w way) run(clients, batch int, each time.Duration) (all []time.Duration, failed error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	end := time.Now().Add(each)
	for range clients {
		wg.Go(func() {
			took, err := w.client(batch, end)
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed == nil && len(all) == 0 {
		failed = errors.New("no answer came in time")
	}
	return all, failed
}

// client asks over one connection until the end. It is leaner than an http.Client,
// which takes as much of the machine as the server does.
func (w way) client(batch int, end time.Time) (took []time.Duration, err error) {
	conn, err := net.Dial(w.network, w.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	request := fmt.Appendf(nil, "POST /ids/item?count=%d HTTP/1.1\r\nHost: idserver\r\nAccept: text/plain\r\nContent-Length: 0\r\n\r\n", batch)
	answers := bufio.NewReaderSize(conn, 64<<10)
	for began := time.Now(); began.Before(end); {
		if _, err := conn.Write(request); err != nil {
			return took, err
		}
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			return took, err
		}
		if response.StatusCode != http.StatusOK {
			reason, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
			return took, fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(reason)))
		}
		if got, err := io.Copy(io.Discard, response.Body); err != nil || got != int64(21*batch) {
			return took, fmt.Errorf("%d bytes for %d IDs, %v", got, batch, err)
		}
		now := time.Now()
		took = append(took, now.Sub(began))
		began = now
	}
	return took, nil
}
