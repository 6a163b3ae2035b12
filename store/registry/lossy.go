package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// Lossy is a setting with which a database may lose confirmed changes.
type Lossy = sqldb.Lossy

// ErrLossy: the database may lose confirmed changes.
var ErrLossy = errors.New("the database may lose confirmed changes")

// LossyError says that a database may lose confirmed changes, and by which settings.
// errors.Is finds [ErrLossy] in it.
type LossyError struct {
	Place    string  // the database, without what is secret
	Settings []Lossy // those that are refused

	// Final says that [Registry.AcceptLossyDatabase] does not help: a sequence of
	// numbers relies on the database alone.
	Final bool
}

func (e *LossyError) Error() string {
	var settings []string
	for _, s := range e.Settings {
		settings = append(settings, s.String())
	}
	text := fmt.Sprintf("the database %q may lose confirmed changes: %s", e.Place, strings.Join(settings, "; "))
	if e.Final {
		return text + ". It would hand out the same numbers again, and nothing else prevents that"
	}
	return text + ". To accept that, and rely on the clocks alone for unique IDs: accept_lossy_database = true in [database] of config.toml, or AcceptLossyDatabase"
}

// Is reports whether target is [ErrLossy].
func (e *LossyError) Is(target error) bool { return target == ErrLossy }

// rereadSettings is how often a running node reads the settings of its database.
const rereadSettings = time.Minute

// rereadTimeout bounds that: a reservation waits for it.
const rereadTimeout = time.Second

// lossy is what a registry knows of the settings of its database.
type lossy struct {
	mu       sync.Mutex
	accepted bool
	found    []Lossy
	next     time.Time // when to read again; zero until a node is opened
}

// AcceptLossyDatabase allows nodes although the database may lose confirmed changes
// (see [Registry.OpenNode]). If it loses some, only the clocks keep IDs unique: those
// of the database and of the machine must not have been set back. Rows of the game that
// it loses are gone. Call it before a node is opened.
func (r *Registry) AcceptLossyDatabase() {
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	r.lossy.accepted = true
	r.db.AcceptLossy()
}

// Warnings returns the settings with which the database may lose confirmed changes, as
// they were read last: when a node was opened, and about every minute since, with a
// renewal of its reservation.
func (r *Registry) Warnings() []Lossy {
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	return slices.Clone(r.lossy.found)
}

// Durability reads from the database the settings with which it may lose confirmed
// changes; none if it keeps them. Settings that are not serious deserve a warning.
func (r *Registry) Durability(ctx context.Context) ([]Lossy, error) { return r.db.Durability(ctx) }

// CheckDurable returns a [*LossyError] that is final if a setting is serious.
func (r *Registry) CheckDurable(ctx context.Context) error {
	found, err := r.db.Durability(ctx)
	if err == nil {
		err = refuse(r.Place(), found, true)
	}
	return err
}

func refuse(place string, found []Lossy, final bool) error {
	serious := slices.DeleteFunc(slices.Clone(found), func(l Lossy) bool { return !l.Serious })
	if len(serious) == 0 {
		return nil
	}
	return &LossyError{Place: place, Settings: serious, Final: final}
}

// admit reads the settings and returns a [*LossyError] if one is serious, unless
// that was accepted.
func (r *Registry) admit(ctx context.Context) error {
	found, err := r.db.Durability(ctx)
	if err != nil {
		return fmt.Errorf("settings of the database: %w", err)
	}
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	r.lossy.found, r.lossy.next = found, time.Now().Add(rereadSettings)
	if r.lossy.accepted {
		return nil
	}
	return refuse(r.Place(), found, false)
}

// reread reads the settings again if that is due. A running node only warns, so
// an error does no harm: the next time may do better.
func (r *Registry) reread(ctx context.Context) {
	now := time.Now()
	r.lossy.mu.Lock()
	due := !r.lossy.next.IsZero() && now.After(r.lossy.next)
	if due {
		r.lossy.next = now.Add(rereadSettings)
	}
	r.lossy.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rereadTimeout)
	defer cancel()
	if found, err := r.db.Durability(ctx); err == nil {
		r.lossy.mu.Lock()
		defer r.lossy.mu.Unlock()
		r.lossy.found = found
	}
}

// Start starts a node of this registry, for [Registry.OpenNode] and for package fleet,
// which puts a Reserver of its own between. It refuses a database that may lose
// confirmed changes with a [*LossyError], and one in which any server is fenced with a
// [*FencedError].
func (r *Registry) Start(ctx context.Context, server gameid.ServerID, through gameid.Floorer, options gameid.Options) (*gameid.Node, error) {
	if err := r.admit(ctx); err != nil {
		return nil, err
	}
	if err := r.CheckFences(ctx, server); err != nil {
		return nil, err
	}
	node, err := gameid.OpenNode(ctx, server, through, options)
	if err != nil {
		return nil, r.ExplainRefusal(server, options, r.explainLock(ctx, server, err))
	}
	// A merge that began meanwhile has seen the lease, or its fence is seen now.
	if err := r.CheckFences(ctx, server); err != nil {
		return nil, errors.Join(err, node.Close())
	}
	return node, nil
}
