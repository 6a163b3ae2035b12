//go:build linux

package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// environ marks the process that [World.Start] starts.
const environ = "MERGESAFE_MINTER"

// openTimeout bounds the start of a process on a slow and busy machine.
const openTimeout = time.Minute

// actAsMinter is the whole process if a [World] has started this program as one, and
// does nothing otherwise.
func actAsMinter() {
	if os.Getenv(environ) != "" {
		os.Exit(run(bufio.NewReader(os.Stdin), &teller{to: json.NewEncoder(os.Stdout)}))
	}
}

// teller writes events, one at a time.
type teller struct {
	mu sync.Mutex
	to *json.Encoder
}

func (t *teller) report(what string, err error) { t.send(event(what, err)) }

func (t *teller) send(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to.Encode(e) // nobody to tell otherwise
}

func run(in *bufio.Reader, out *teller) (code int) {
	var cfg order
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &cfg)
	}
	if err != nil {
		out.report(Refused, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if cfg.Hold {
		out.report(Ready, nil)
		in.ReadString('\n')
	}
	go func() {
		io.Copy(io.Discard, in) // ends when the parent does
		os.Exit(3)
	}()

	began := time.Now()
	db, node, err := openNode(ctx, cfg.Config)
	if err != nil {
		out.report(Refused, err)
		return 1
	}
	defer db.Close()
	cfg.Log = strings.Replace(cfg.Log, "*", fmt.Sprintf("%07d", node.Server()), 1)
	out.send(Event{What: Opened, At: time.Now(), Server: node.Server(), Took: time.Since(began)})
	if err := mint(ctx, db, node, cfg, out); err != nil {
		out.report(Lost, err)
		return 1
	}
	out.report(Closed, node.Close())
	return 0
}

// openNode opens what the process needs. A call may take only a quarter of the window, which is short in many tests: what a
// busy machine does not do within that is tried again, unless it waits for a lock.
func openNode(ctx context.Context, cfg Config) (*store.DB, *gameid.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		db, node, err := openOnce(ctx, cfg)
		held, isHeld := errors.AsType[*gameid.HeldError](err)
		switch {
		case ctx.Err() != nil:
			return db, node, err
		case isHeld && held.Holder.PID == os.Getpid(): // an attempt whose answer came too late
			time.Sleep(100 * time.Millisecond)
		case !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "is locked by"):
			return db, node, err
		}
	}
}

func openOnce(ctx context.Context, cfg Config) (*store.DB, *gameid.Node, error) {
	db, err := store.Open(ctx, cfg.DSN)
	if err != nil {
		return nil, nil, err
	}
	if cfg.Offset != 0 {
		clock := gameidtest.NewClock()
		clock.Step(cfg.Offset)
		cfg.Options.Clock = clock
	}
	options := store.NodeOptions{Options: cfg.Options, AcceptLossyDatabase: cfg.AcceptLossy}
	err = storetest.Create(ctx, db)
	var node *gameid.Node
	switch {
	case err != nil:
	case cfg.AnyOf != store.ServerRange{}:
		node, err = db.OpenFreeNode(ctx, cfg.AnyOf, options)
	default:
		node, err = db.OpenNode(ctx, cfg.Server, options)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, node, nil
}
