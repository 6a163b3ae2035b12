package worldregistry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// ServerRange is a range of servers, both ends included.
type ServerRange struct{ First, Last gameid.ServerID }

// MaxRange is how many servers a range may have.
const MaxRange = 4096

// Validate returns an error unless the range has 1 to MaxRange servers, all of
// them valid.
func (n ServerRange) Validate() error {
	if err := cmp.Or(n.First.Validate(), n.Last.Validate()); err != nil {
		return err
	}
	if n.First > n.Last {
		return fmt.Errorf("the range of servers %s ends before it begins", n)
	}
	if n.Len() > MaxRange {
		return fmt.Errorf("the range of servers %s has %d servers: want at most %d", n, n.Len(), MaxRange)
	}
	return nil
}

func (n ServerRange) String() string { return fmt.Sprintf("%s-%s", n.First, n.Last) }

// Len returns how many servers the range has.
func (n ServerRange) Len() int { return int(n.Last) - int(n.First) + 1 }

// InRange returns the servers of a range that the registry knows, in their order.
func (r *Registry) InRange(ctx context.Context, servers ServerRange) ([]Server, error) {
	return r.find(ctx, " WHERE server_id BETWEEN ? AND ? ORDER BY server_id", servers.First, servers.Last)
}

// FirstFree opens a server of a range that no live process holds, and returns
// the result of open. open gets the row as it was read; if the server was never
// used, only its ID is set. look gets all rows of the range before one is chosen,
// and returns which servers cannot be taken, and why. An error of look ends the
// search.
//
// Servers are tried in random order, and the rows are read again after each
// refusal, so that many processes that start at the same moment seldom try the same
// server.
func FirstFree[N any](ctx context.Context, r *Registry, servers ServerRange, options NodeOptions, open func(Server) (N, error), look func([]Server) (map[gameid.ServerID]error, error)) (none N, err error) {
	if err := servers.Validate(); err != nil {
		return none, err
	}
	if err := r.usable(ctx, options); err != nil {
		return none, err
	}
	const most = 3 // times that one server is tried: it may become free between two looks
	tried := make(map[gameid.ServerID]int)
	refused := make(map[gameid.ServerID]error) // by open
	for {
		if err := r.checkFences(ctx, servers.First); err != nil {
			return none, err
		}
		rows, err := r.InRange(ctx, servers)
		if err != nil {
			return none, err
		}
		not, err := look(rows)
		if err != nil {
			return none, err
		}
		free, full := r.free(servers, rows, not, refused)
		if len(free) == 0 {
			return none, full
		}
		own := free[rand.N(len(free))]
		node, err := open(own)
		if err == nil {
			return node, nil
		}
		if ctx.Err() != nil {
			return none, err
		}
		tried[own.ID]++
		_, held := errors.AsType[*gameid.HeldError](err)
		_, late := errors.AsType[*gameid.MarkError](err)
		switch {
		case !held && !late && !errors.Is(err, ErrMoved):
			return none, err
		case late, tried[own.ID] == most:
			refused[own.ID] = err
		}
	}
}

// free returns the rows of the servers that look free, and the error for the
// case that there are none.
func (r *Registry) free(servers ServerRange, rows []Server, not, refused map[gameid.ServerID]error) (free []Server, full *NoneFreeError) {
	full = &NoneFreeError{Servers: servers, Place: r.Place(), database: r.String()}
	known := make(map[gameid.ServerID]*Server)
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	for id := servers.First; id <= servers.Last; id++ {
		row := cmp.Or(known[id], &Server{ID: id})
		err := cmp.Or(r.refusal(row), not[id], refused[id])
		if err == nil {
			free = append(free, *row)
			continue
		}
		full.Refused = append(full.Refused, err)
	}
	return free, full
}

// NoneFreeError says that no server of a range can be taken, and why. errors.As
// finds each of the reasons.
type NoneFreeError struct {
	Servers ServerRange
	Place   string // the database, without what is secret

	// Refused has the reason for every server: a [*gameid.HeldError] that names
	// the process, a [*gameid.MarkError], or another one.
	Refused []error

	database string
}

// Holders returns the processes that hold servers of the range, in the order of the servers.
func (e *NoneFreeError) Holders() (held []*gameid.HeldError) {
	for _, err := range e.Refused {
		if h, ok := errors.AsType[*gameid.HeldError](err); ok {
			held = append(held, h)
		}
	}
	return held
}

func (e *NoneFreeError) Error() string {
	held := e.Holders()
	text := fmt.Sprintf("none of the %d servers %s is free with the database %q: processes hold %d", e.Servers.Len(), e.Servers, e.Place, len(held))
	const shown = 3
	for _, h := range held[:min(shown, len(held))] {
		text += fmt.Sprintf("; %s: %s", h.Server, h.Holder)
	}
	if more := len(held) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	others := slices.DeleteFunc(slices.Clone(e.Refused), func(err error) bool {
		_, held := errors.AsType[*gameid.HeldError](err)
		return held
	})
	for _, err := range others[:min(shown, len(others))] {
		text += "; " + err.Error()
	}
	if more := len(others) - shown; more > 0 {
		text += fmt.Sprintf("; and %d more that cannot be used", more)
	}
	return text + "; stop a process, or give the world more servers; " +
		"to list them: gameid servers inspect " + printable.Quoted(e.database)
}

// Unwrap returns the reasons.
func (e *NoneFreeError) Unwrap() []error { return e.Refused }

// Make makes the rows of the servers of a range that have never run on this database, and with each the
// identity of its world, in one transaction.
func (r *Registry) Make(ctx context.Context, servers ServerRange) error {
	what := fmt.Sprintf("registry of servers %s", servers)
	return sqldb.Retry(ctx, func() error {
		return r.db.Change(ctx, what, func(tx *sqldb.Tx) error {
			for server := servers.First; server <= servers.Last; server++ {
				_, err := tx.Exec(ctx, r.db.Dialect().With(insertServer)+r.db.Dialect().Words().OnConflict, server, sqldb.NewIdentity(), 0, 0, gameid.Holder{}, 0)
				if err != nil && !errors.Is(err, sqldb.ErrDuplicate) {
					return err
				}
			}
			return nil
		})
	})
}

// Bind records that the world of the servers of a range that run on this database is bound in the fleet
// registry of that identity. The world can then start while the fleet registry cannot be reached.
func (r *Registry) Bind(ctx context.Context, servers ServerRange, fleet string) error {
	return sqldb.Retry(ctx, func() error {
		_, err := r.db.ExecKind(ctx, sqldb.Seldom, fmt.Sprintf("registry of servers %s: remember the fleet registry", servers),
			"UPDATE "+Table+" SET fleet = ? WHERE server_id BETWEEN ? AND ? AND role = '"+RoleOwn+"' AND fleet <> ?", fleet, servers.First, servers.Last, fleet)
		return err
	})
}
