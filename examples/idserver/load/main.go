// Load measures an idserver: IDs and requests a second by the size of a batch, with
// one client and with many, over HTTP and over its Unix socket.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const usage = `Usage: load [-address ADDRESS] [-socket PATH] [-for TIME] [-clients N]

Asks a running idserver for IDs of the kind item, as text, in batches of 1, 10,
100 and 1000, with 1 and with N clients (default 64), and prints a table. Each
client keeps one connection, and sends a request when it has the whole answer to the last. It takes a
part of the machine itself.

Example:
  load -address 127.0.0.1:8080 -socket /run/game/ids.sock -for 5s
`

func main() {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	address := flags.String("address", "", "")
	socket := flags.String("socket", "", "")
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
	if err := measure(os.Stdout, ways, []int{1, *many}, *each); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// way is how the server is reached.
type way struct{ name, network, address string }

func measure(out io.Writer, ways []way, clients []int, each time.Duration) error {
	fmt.Fprintln(out, "| | clients | batch | IDs/s | requests/s | median | 99.9 % |\n|---|--:|--:|--:|--:|--:|--:|")
	for _, w := range ways {
		for _, n := range clients {
			for _, batch := range []int{1, 10, 100, 1000} {
				took, err := w.run(n, batch, each)
				if err != nil {
					return err
				}
				slices.Sort(took)
				at := func(share float64) time.Duration {
					return took[int(share*float64(len(took)-1))].Round(time.Microsecond)
				}
				rate := float64(len(took)) / each.Seconds()
				fmt.Fprintf(out, "| %s | %d | %d | %.0f | %.0f | %s | %s |\n", w.name, n, batch, rate*float64(batch), rate, at(0.5), at(0.999))
			}
		}
	}
	return nil
}

// run returns how long each request took.
func (w way) run(clients, batch int, each time.Duration) ([]time.Duration, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, w.network, w.address)
		},
		MaxIdleConnsPerHost: clients,
		DisableCompression:  true,
	}
	defer transport.CloseIdleConnections()
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	end := time.Now().Add(each)
	for range clients {
		wg.Go(func() {
			var mine []time.Duration
			var err error
			for began := time.Now(); began.Before(end) && err == nil; {
				if err = ask(transport, batch); err == nil {
					now := time.Now()
					mine = append(mine, now.Sub(began))
					began = now
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, mine...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed == nil && len(all) == 0 {
		failed = errors.New("no answer came in time")
	}
	return all, failed
}

func ask(transport *http.Transport, batch int) error {
	request, err := http.NewRequest("POST", fmt.Sprintf("http://idserver/ids/item?count=%d", batch), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/plain")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("%s: %s", response.Status, strings.TrimSpace(string(reason)))
	}
	got, err := io.Copy(io.Discard, response.Body)
	if err == nil && got != int64(21*batch) {
		err = fmt.Errorf("%d bytes for %d IDs", got, batch)
	}
	return err
}
