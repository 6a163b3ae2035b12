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

// NumberRange is a range of server numbers, both ends included.
type NumberRange struct{ First, Last gameid.ServerID }

// MaxNumbers is how many numbers a range may have.
const MaxNumbers = 4096

// Validate returns an error unless the range has 1 to MaxNumbers numbers, all of
// them valid.
func (n NumberRange) Validate() error {
	if err := cmp.Or(n.First.Validate(), n.Last.Validate()); err != nil {
		return err
	}
	if n.First > n.Last {
		return fmt.Errorf("the range of server numbers %s ends before it begins", n)
	}
	if n.Len() > MaxNumbers {
		return fmt.Errorf("the range of server numbers %s has %d numbers: want at most %d", n, n.Len(), MaxNumbers)
	}
	return nil
}

func (n NumberRange) String() string { return fmt.Sprintf("%s-%s", n.First, n.Last) }

// Len returns how many numbers the range has.
func (n NumberRange) Len() int { return int(n.Last) - int(n.First) + 1 }

// InRange returns the servers of a range that the registry knows, by number.
func (r *Registry) InRange(ctx context.Context, numbers NumberRange) ([]Server, error) {
	return r.find(ctx, " WHERE server_id BETWEEN ? AND ? ORDER BY server_id", numbers.First, numbers.Last)
}

// FirstFree opens a number of a range that no live process holds, and returns
// the result of open. open gets the row as it was read; if the number was never
// used, only its ID is set. look gets all rows of the range before one is chosen,
// and returns which numbers cannot be taken, and why. An error of look ends the
// search.
//
// Numbers are tried in random order, and the rows are read again after each
// refusal, so that many processes that start at the same moment seldom try the same
// number.
func FirstFree[N any](ctx context.Context, r *Registry, numbers NumberRange, options NodeOptions, open func(Server) (N, error), look func([]Server) (map[gameid.ServerID]error, error)) (none N, err error) {
	if err := numbers.Validate(); err != nil {
		return none, err
	}
	if err := r.usable(ctx, options); err != nil {
		return none, err
	}
	const most = 3 // times that one number is tried: it may become free between two looks
	tried := make(map[gameid.ServerID]int)
	refused := make(map[gameid.ServerID]error) // by open
	for {
		if err := r.checkFences(ctx, numbers.First); err != nil {
			return none, err
		}
		servers, err := r.InRange(ctx, numbers)
		if err != nil {
			return none, err
		}
		not, err := look(servers)
		if err != nil {
			return none, err
		}
		free, full := r.free(numbers, servers, not, refused)
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

// free returns the rows of the numbers that look free, and the error for the
// case that there are none.
func (r *Registry) free(numbers NumberRange, servers []Server, not, refused map[gameid.ServerID]error) (free []Server, full *NoneFreeError) {
	full = &NoneFreeError{Numbers: numbers, Place: r.Place(), database: r.String()}
	rows := make(map[gameid.ServerID]*Server)
	for i := range servers {
		rows[servers[i].ID] = &servers[i]
	}
	for number := numbers.First; number <= numbers.Last; number++ {
		row := cmp.Or(rows[number], &Server{ID: number})
		err := cmp.Or(r.refusal(row), not[number], refused[number])
		if err == nil {
			free = append(free, *row)
			continue
		}
		full.Refused = append(full.Refused, err)
	}
	return free, full
}

// NoneFreeError says that no number of a range can be taken, and why. errors.As
// finds each of the reasons.
type NoneFreeError struct {
	Numbers NumberRange
	Place   string // the database, without what is secret

	// Refused has the reason for every number: a [*gameid.HeldError] that names
	// the process, a [*gameid.MarkError], or another one.
	Refused []error

	database string
}

// Holders returns the processes that hold numbers of the range, by number.
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
	text := fmt.Sprintf("none of the %d server numbers %s is free with the database %q: processes hold %d", e.Numbers.Len(), e.Numbers, e.Place, len(held))
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
	return text + "; stop a process, or give the world more numbers; " +
		"to list them: gameid servers inspect " + printable.Quoted(e.database)
}

// Unwrap returns the reasons.
func (e *NoneFreeError) Unwrap() []error { return e.Refused }

// Make makes the rows of the servers of a range that have never run on this database, and with each the
// identity of its world, in one transaction.
func (r *Registry) Make(ctx context.Context, numbers NumberRange) error {
	what := fmt.Sprintf("registry of servers %s", numbers)
	return sqldb.Retry(ctx, func() error {
		return r.db.Change(ctx, what, func(tx *sqldb.Tx) error {
			for server := numbers.First; server <= numbers.Last; server++ {
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
func (r *Registry) Bind(ctx context.Context, numbers NumberRange, fleet string) error {
	return sqldb.Retry(ctx, func() error {
		_, err := r.db.ExecKind(ctx, sqldb.Seldom, fmt.Sprintf("registry of servers %s: remember the fleet registry", numbers),
			"UPDATE "+Table+" SET fleet = ? WHERE server_id BETWEEN ? AND ? AND role = '"+RoleOwn+"' AND fleet <> ?", fleet, numbers.First, numbers.Last, fleet)
		return err
	})
}
