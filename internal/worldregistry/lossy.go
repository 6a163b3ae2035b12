package worldregistry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/sqldb"
)

// Lossy is a setting with which a database may lose confirmed changes.
type Lossy = sqldb.Lossy

// LossyError says that a database may lose confirmed changes, and by which settings.
type LossyError struct {
	Place    string  // the database, without what is secret
	Settings []Lossy // those that are refused

	// Final says that it cannot be accepted: a sequence of numbers relies on the database alone.
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
	return text + ". To accept that, and rely on the clocks alone for unique IDs: AcceptLossyDatabase of store.NodeOptions"
}

// rereadSettings is how often a running node reads the settings of its database.
const rereadSettings = time.Minute

// rereadTimeout bounds that: a reservation waits for it.
const rereadTimeout = time.Second

// lossy is what a registry knows of the settings of its database.
type lossy struct {
	mu    sync.Mutex
	found []Lossy
	next  time.Time // when to read again; zero until a node is opened
}

// Warnings returns what [Registry.Durability] found when a node was opened, or about every minute since.
func (r *Registry) Warnings() []Lossy {
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	return slices.Clone(r.lossy.found)
}

// Durability reads from the database the settings with which it may lose confirmed
// changes; none if it keeps them. Settings that are not serious deserve a warning.
func (r *Registry) Durability(ctx context.Context) ([]Lossy, error) { return r.db.Durability(ctx) }

// AdmitNumbers returns an error if no sequence of numbers can rely on this database: a [*LossyError] that is
// final if a setting is serious.
func (r *Registry) AdmitNumbers(ctx context.Context) error {
	if err := r.waitsForItself(); err != nil {
		return err
	}
	found, err := r.Durability(ctx)
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

// readSettings reads what [Registry.Warnings] returns from then on.
func (r *Registry) readSettings(ctx context.Context) ([]Lossy, error) {
	found, err := r.Durability(ctx)
	if err != nil {
		return nil, fmt.Errorf("settings of the database: %w", err)
	}
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	r.lossy.found, r.lossy.next = found, time.Now().Add(rereadSettings)
	return found, nil
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
	_, _ = r.readSettings(ctx)
}
