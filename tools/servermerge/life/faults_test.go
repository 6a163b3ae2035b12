package life

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mergesafe/internal/sqldb"
	"mergesafe/store/storetest/faulty"
)

// fault is what happens to a command at one of its requests to databases. The zero fault is none.
type fault struct {
	at     int  // permille of the requests that the command has if nothing happens
	writes bool // of those alone that change something
	begins bool // of those alone that come shortly before the record is made
	kind   string
	do     func() // meanwhile

	mu    sync.Mutex
	all   []string // its requests until now
	point int
	died  bool
	busy  bool // with what happens meanwhile
	ends  any  // the sequence, by what happened meanwhile
	full  func() bool
}

// The kinds of faults.
const (
	killBefore = "killed before a request"
	killAfter  = "killed after a request, before its answer"
	cut        = "a connection is cut, and the answer lost"
	meanwhile  = "with another process at its side"
)

func (f *fault) String() string {
	if f.kind == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, at %d of 1000%s)", f.kind, f.at, map[bool]string{true: " of its writes"}[f.writes])
}

var (
	errKilled = errors.New("the process was killed")
	errFull   = faulty.SQLiteError(13)
)

// in returns the context of a command that has these requests if nothing happens.
func (f *fault) in(ctx context.Context, requests []string) context.Context {
	f.writes = f.writes && slices.ContainsFunc(requests, changesSomething)
	record := slices.IndexFunc(requests, func(what string) bool { return writes(what) && strings.Contains(what, recordTable) })
	var points []int
	for i, what := range requests {
		if f.begins && (i < record-15 || i >= record) {
			continue
		}
		if !f.writes || changesSomething(what) {
			points = append(points, i+1)
		}
	}
	if f.kind != "" && len(points) > 0 {
		f.point = points[f.at*len(points)/1000]
	}
	return sqldb.Through(func(dsn string, c driver.Connector) driver.Connector {
		lost := error(faulty.SQLiteError(10))
		if strings.HasPrefix(dsn, string(sqldb.MySQL)) {
			lost = driver.ErrBadConn
		}
		return &faulty.Wire{Connector: mortal{c, f}, Fault: func(what string) (error, bool) { return f.now(what, lost) }}
	}).With(ctx)
}

// mortal makes no connection for a process that was killed.
type mortal struct {
	driver.Connector
	f *fault
}

func (c mortal) Connect(ctx context.Context) (driver.Conn, error) {
	if err, _ := c.f.now("CONNECT", driver.ErrBadConn); err != nil {
		return nil, err
	}
	return c.Connector.Connect(ctx)
}

// now returns how a request fails, and whether it is carried out all the same.
func (f *fault) now(what string, lost error) (error, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy {
		return nil, false
	}
	if f.died {
		return errKilled, false
	}
	if f.full != nil && writes(what) && f.full() {
		return errFull, false
	}
	f.all = append(f.all, what)
	if len(f.all) != f.point {
		return nil, false
	}
	switch f.kind {
	case meanwhile:
		f.aside()
		return nil, false
	case killBefore, killAfter:
		f.died = true
		return errKilled, f.kind == killAfter
	}
	return lost, true
}

// aside does what happens meanwhile. What ends the sequence there waits for the end of the command.
func (f *fault) aside() {
	f.busy = true
	f.mu.Unlock()
	defer func() {
		f.ends = recover()
		f.mu.Lock()
		f.busy = false
	}()
	f.do()
}

func writes(what string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(what), " ")
	return strings.Contains("INSERT UPDATE DELETE CREATE DROP ALTER", strings.ToUpper(word))
}

// changesSomething tells of a request, or of a question to the fleet registry, whether it may.
func changesSomething(what string) bool {
	return writes(what) || what == "COMMIT" || strings.HasPrefix(what, "the fleet")
}

// mortal makes what asks the fleet registry, over connections that know of no fault, end with its process.
func (f *fault) mortal(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err, _ := f.now("the fleet registry", driver.ErrBadConn); err != nil {
			return err
		}
		if err := do(ctx); err != nil {
			return err
		}
		err, _ := f.now("the fleet registry has answered", driver.ErrBadConn)
		return err
	}
}
