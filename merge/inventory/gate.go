package inventory

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// gate lets worlds in: so many at a time in all, and on each database server.
type gate struct {
	all       chan struct{}
	perServer int

	mu      sync.Mutex
	servers map[string]*server
}

// server is one database server.
type server struct {
	places chan struct{} // nil: no limit of its own

	mu     sync.Mutex
	silent []string // the worlds for which it did not answer, since it last did
}

// silences is after how many worlds without an answer a server is not asked for others.
const silences = 2

// patience is for how long a world that waits for an answer keeps its place from others.
const patience = time.Second

func newGate(parallel, perServer int) *gate {
	return &gate{all: make(chan struct{}, parallel), perServer: perServer, servers: make(map[string]*server)}
}

func (g *gate) server(name string) *server {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.servers[name]
	if s == nil {
		s = new(server)
		if name != Files { // which do not wait for each other
			s.places = make(chan struct{}, g.perServer)
		}
		g.servers[name] = s
	}
	return s
}

// place is the place of a world inside the gate. It belongs to one goroutine.
type place struct {
	gate   *gate
	server *server
	lent   bool
}

// enter waits for a place. It is an error if the server does not answer.
func (g *gate) enter(ctx context.Context, on string) (*place, error) {
	s := g.server(on)
	if s.places != nil {
		if err := take(ctx, s.places); err != nil {
			return nil, err
		}
	}
	p := &place{gate: g, server: s, lent: true}
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if s.places != nil && len(silent) >= silences {
		p.leave()
		return nil, fmt.Errorf("its database server %s did not answer for %s, and was not asked again", on, strings.Join(silent, " and "))
	}
	if err := p.back(ctx); err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

func (p *place) leave() {
	if !p.lent {
		<-p.gate.all
	}
	if p.server.places != nil {
		<-p.server.places
	}
}

// lend gives the place to another world after a while, unless keep is called before. Then
// back returns only when there is a place again. The place on the database server stays.
func (p *place) lend() (keep func()) {
	lend := time.AfterFunc(patience, func() { <-p.gate.all })
	return func() { p.lent = !lend.Stop() }
}

// back waits for a place, if it has none.
func (p *place) back(ctx context.Context) error {
	if !p.lent {
		return nil
	}
	err := take(ctx, p.gate.all)
	p.lent = err != nil
	return err
}

// answered notes whether the server answered when it was asked for a world.
func (p *place) answered(world string, did bool) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if did {
		s.silent = nil
	} else {
		s.silent = append(s.silent, world)
	}
}

func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
