package world

import (
	"sync/atomic"
	"time"
)

// pace decides how many rows a batch has, by how long the last one took.
type pace struct {
	rows atomic.Int64
	want time.Duration
}

const (
	FewestRows = 100
	MostRows   = 20_000
)

func NewPace(want time.Duration) *pace {
	p := &pace{want: want}
	p.rows.Store(1000)
	return p
}

func (p *pace) Size() int { return int(p.rows.Load()) }

func (p *pace) Record(rows int, d time.Duration) {
	switch n := p.rows.Load(); {
	case d > 2*p.want:
		p.rows.Store(max(FewestRows, n/2))
	case d < p.want/2 && int64(rows) >= n/2:
		p.rows.Store(min(MostRows, 2*n))
	}
}
