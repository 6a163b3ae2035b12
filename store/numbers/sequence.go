// Package numbers hands out the short numbers that a game shows and players
// read aloud; it takes them in blocks from a row of a database. In the same way it hands
// out integer keys for columns that are BIGINT, which carry their server.
package numbers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"mergesafe/gameid"
	inner "mergesafe/internal/fleet"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/number"
	"mergesafe/store/fleet"
	"mergesafe/store/registry"
)

var (
	// ErrUsedUp: the share of the space that the numbers come from is used up.
	ErrUsedUp = errors.New("numbers used up")

	// ErrClosed: the sequence was closed.
	ErrClosed = errors.New("numbers closed")
)

// Sequence hands out the short numbers of one sequence, which a game shows and
// players read aloud: 10 084 213. No number is given out twice, not even after a crash, a
// lost answer or a merge. Any number of goroutines may use it, and any number
// of processes may have the same sequence open.
//
// Numbers are taken in blocks and handed out from memory. When four fifths of a block
// are used, the next is taken in the background, so that no caller has to wait. To take
// a block, one statement raises the counter of a row by the size of the block; if the answer is
// lost, the block is lost. A crash loses the numbers that were taken and not handed out: the
// rest of one block, and the next block if it was taken. Close gives them back if no
// process has taken any since.
//
// Within a process numbers rise. Between processes they do not: each process has
// its own blocks.
//
// # Where the numbers come from
//
// With a fleet registry, [OpenShared], all worlds share one dense
// sequence: 1, 2, 3 ... Numbers that begin with 9 are left out.
//
// Without a fleet registry, [Open], each world has a share of its own, which
// follows from its server: a 9, how many digits the server has,
// the server, and then at least four digits that count. Server 7 begins with 9 1
// 7 0000 and after 10,000 numbers continues with 9 1 7 00000; server 12 begins with 9 2 12
// 0000. So worlds that do not know of each other have different numbers if they are
// different servers. Their IDs rely on that as well.
//
// The two do not overlap. A world may change to a fleet registry at any time,
// keep the numbers that it has, and get new numbers from there.
//
// # Faults
//
// While the database cannot be reached, all numbers that were taken are handed out;
// then Next returns a [*Error] with the cause at once. The sequence retries
// in the background, about every two seconds, so it recovers by itself.
//
// A database that was restored from a backup would give out again the numbers given out
// since. A process that ran during the restore notices, and continues after its last
// number; a process that starts afterwards asks Options.InUse. InUse knows only
// the world's own numbers: after you restore a fleet registry, start all worlds once, or
// raise Start, before new players come.
type Sequence struct {
	name    string
	source  string // the database, for people
	options Options
	seq     *row // only one goroutine uses it at a time: in open, run or Close

	current  atomic.Pointer[block]
	reserved atomic.Uint64 // numbers that were not handed out

	wake   chan struct{} // to run: there may be something to do
	cancel context.CancelFunc
	idle   chan struct{} // closed when run has ended

	mu       sync.Mutex
	spare    *block
	size     int64         // of the last block that was asked for
	err      error         // of the last attempt, or nil
	attempt  chan struct{} // closed at the end of the attempt that runs or comes next
	closed   bool
	used     uint64 // of the blocks before the current one
	blocks   uint64
	failures uint64
}

// block is a run of numbers to hand out, without check digits.
type block struct {
	next   atomic.Int64 // may rise beyond end
	refill int64        // the number at which the next block is to be taken
	first  int64
	end    int64
	begun  time.Time // when it became the current one
}

func newBlock(s span) *block {
	b := &block{first: s.first, end: s.end, refill: s.first + (s.end-s.first)*4/5}
	b.next.Store(s.first)
	return b
}

// gone returns how many numbers of the block were handed out or are reserved.
func (b *block) gone() int64 { return min(b.next.Load(), b.end) - b.first }

// Open opens a sequence of numbers of a world without a fleet registry: they
// come from the share of its server, which must have had a node on this
// database. Take numbers before a transaction rather than inside, as with IDs.
// Close the Sequence before the database.
//
// A database that may lose confirmed changes is refused with a [*registry.LossyError],
// and no option accepts it: the row is the only thing that keeps numbers from repeating.
// [OpenShared] refuses it too.
//
// If the database cannot be reached, Open still returns the Sequence, and Next returns
// the cause until the database can be reached.
func Open(ctx context.Context, reg *registry.Registry, server gameid.ServerID, name string, options Options) (*Sequence, error) {
	if err := server.Validate(); err != nil {
		return nil, err
	}
	return open(ctx, ownRow(reg, server), name, options)
}

// ownRow is a row in a world's own database.
func ownRow(reg *registry.Registry, server gameid.ServerID) *row {
	q := &row{db: database(reg), table: sqldb.NumbersTable, server: server}
	q.admit = func(ctx context.Context) error {
		if err := part.Check(ctx, q.db); err != nil {
			return err
		}
		world := (*worldregistry.Registry)(reg)
		own, err := world.Server(ctx, server)
		switch {
		case err != nil:
			return err
		case own.Role == worldregistry.RoleMerged:
			return fmt.Errorf("store: server %s was merged into %q: it has no share of the numbers here", server, reg)
		case own.World == "":
			return fmt.Errorf("store: server %s has never run on %q: open its node first, or correct the server", server, reg)
		}
		return world.AdmitNumbers(ctx)
	}
	return q
}

// OpenShared opens a sequence of numbers that all worlds of the fleet share.
// Close the Sequence before the Fleet.
//
// If the fleet registry cannot be reached, OpenShared still returns the Sequence, and Next
// returns the cause until the registry can be reached.
func OpenShared(ctx context.Context, f *fleet.Fleet, name string, options Options) (*Sequence, error) {
	shared := (*inner.Fleet)(f)
	q := &row{db: sqldb.Wrap(shared.Pool(), shared.Dialect()), table: inner.NumbersTable}
	q.admit = func(ctx context.Context) error {
		if _, err := shared.Identity(ctx); err != nil {
			return err
		}
		if err := worldregistry.New(q.db).AdmitNumbers(ctx); err != nil {
			return fmt.Errorf("fleet registry %q: %w", f, err)
		}
		return nil
	}
	return open(ctx, q, name, options)
}

func open(ctx context.Context, q *row, name string, options Options) (*Sequence, error) {
	options, err := options.withDefaults(name)
	if err != nil {
		return nil, err
	}
	q.name, q.inUse = name, options.InUse
	if q.space == nil { // no keys
		if err := notOfKeys(name); err != nil {
			return nil, err
		}
		q.count(options)
	}
	n := &Sequence{
		name: name, source: q.db.String(), options: options, seq: q,
		wake: make(chan struct{}, 1), idle: make(chan struct{}), attempt: make(chan struct{}),
	}
	n.current.Store(newBlock(span{}))
	if err := n.fetch(ctx); err != nil && (ctx.Err() != nil || !unreachable(err)) {
		return nil, n.fault(err)
	}
	background, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go n.run(background)
	n.rouse()
	return n, nil
}

// count makes the row count short numbers, not keys.
func (q *row) count(o Options) {
	digits, start := numberDigits, int64(o.Start)
	if o.CheckDigit {
		digits--
		start = (start + 9) / 10
		q.check = checkDamm
	}
	q.floor, q.space = start, fleetSpace(digits)
	if q.server != 0 {
		q.space = shareSpace(q.server, digits)
	}
}

// unreachable reports whether err says only that the database cannot be reached,
// or is too busy.
func unreachable(err error) bool {
	return errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrRetryable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Next returns the next number. It does not use the database, unless numbers are
// used faster than blocks arrive: then it waits for a block, until ctx ends. If there is no
// number, the error is a [*Error].
func (n *Sequence) Next(ctx context.Context) (number.Number, error) {
	const most = 100_000
	for range most {
		b := n.current.Load()
		bare := b.next.Add(1) - 1
		if bare >= b.refill {
			if bare >= b.end {
				if err := n.advance(ctx, b); err != nil {
					return 0, n.fault(err)
				}
				continue
			}
			if bare == b.refill {
				n.rouse()
			}
		}
		shown := number.Number(bare)
		if n.options.CheckDigit {
			shown = shown.WithCheck()
		}
		if n.options.Reserved == nil || !n.options.Reserved(shown) {
			return shown, nil
		}
		n.reserved.Add(1)
	}
	return 0, n.fault(fmt.Errorf("numbers.Options.Reserved reserves %d numbers in a row", most))
}

func (n *Sequence) fault(err error) error {
	return &Error{Sequence: n.name, Source: n.source, Err: err}
}

// advance returns when there is another current block than b, which is used
// up.
func (n *Sequence) advance(ctx context.Context, b *block) error {
	for {
		n.mu.Lock()
		switch {
		case n.closed:
			n.mu.Unlock()
			return ErrClosed
		case n.current.Load() != b:
			n.mu.Unlock()
			return nil
		case n.spare != nil:
			n.spare.begun = time.Now()
			n.used += uint64(b.gone())
			n.current.Store(n.spare)
			n.spare = nil
			n.mu.Unlock()
			return nil
		case n.err != nil:
			err := n.err
			n.mu.Unlock()
			return err
		}
		attempt := n.attempt
		n.mu.Unlock()
		n.rouse()
		select {
		case <-attempt:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a block: %w", context.Cause(ctx))
		}
	}
}

// rouse makes run look for something to do.
func (n *Sequence) rouse() {
	select {
	case n.wake <- struct{}{}:
	default: // run will look anyway
	}
}

// run takes blocks.
func (n *Sequence) run(ctx context.Context) {
	defer close(n.idle)
	const first, most = 50 * time.Millisecond, 2 * time.Second
	for {
		select {
		case <-n.wake:
		case <-ctx.Done():
			return
		}
		// An attempt that has begun is not interrupted: it could have
		// taken a block, which would be lost.
		for wait := first; n.lacking() && n.fetch(context.WithoutCancel(ctx)) != nil; wait = min(2*wait, most) {
			select {
			case <-time.After(wait/2 + rand.N(wait/2)): // not all processes at once
			case <-ctx.Done():
				return
			}
		}
	}
}

// lacking reports whether the next block is to be taken.
func (n *Sequence) lacking() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.current.Load() // under the lock: with the block before it, the spare one that has just become current would be missed
	return n.spare == nil && b.next.Load() >= b.refill
}

// fetch takes the next block.
func (n *Sequence) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.options.Timeout)
	defer cancel()
	size := n.nextSize()
	taken, err := n.seq.take(ctx, size)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = err
	if err == nil {
		n.spare, n.size = newBlock(taken), size
		n.blocks++
	} else {
		n.failures++
	}
	close(n.attempt)
	n.attempt = make(chan struct{})
	return err
}

// nextSize returns how many numbers to take: as many as last for BlockTime at
// the present rate.
func (n *Sequence) nextSize() int64 {
	b := n.current.Load()
	n.mu.Lock()
	size := n.size
	n.mu.Unlock()
	if size == 0 {
		return int64(n.options.MinBlock)
	}
	if b.gone() == 0 {
		return size
	}
	size = adapt(size, b.gone(), time.Since(b.begun), n.options.BlockTime)
	return min(max(size, int64(n.options.MinBlock)), int64(n.options.MaxBlock))
}

// adapt returns the size of a block that lasts for target, if so many
// numbers were used in a time. It is at most twice, and at least half, the size of the
// last block: one busy second is no rate, and a crash should lose no more than
// what was used.
func adapt(last, used int64, in, target time.Duration) int64 {
	want := float64(used) * float64(target) / float64(max(in, time.Microsecond))
	return int64(min(max(want, float64(last)/2), float64(last)*2))
}

// Close ends the sequence and gives back the numbers that were taken and not handed
// out, if no process has taken any since. If it returns an error, these numbers were not given
// back and are lost. Close waits at most Options.Timeout for a block that is being taken, and
// at most as long again to give numbers back. Further calls do nothing.
// Calls of Next that wait, or come later, return [ErrClosed].
func (n *Sequence) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		<-n.idle
		return nil
	}
	n.closed = true
	close(n.attempt) // calls that wait for it return
	n.attempt = make(chan struct{})
	n.mu.Unlock()
	n.cancel()
	<-n.idle

	n.mu.Lock()
	b := n.current.Load()
	// From here on no call gets a number of this block.
	rest := span{min(b.next.Swap(b.end), b.end), b.end}
	n.used += uint64(rest.first - b.first)
	n.current.Store(newBlock(span{}))
	var spare span
	if n.spare != nil {
		spare = span{n.spare.first, n.spare.end}
		n.spare = nil
	}
	n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), n.options.Timeout)
	defer cancel()
	return n.seq.giveBack(ctx, spare, rest)
}

// Stats are the figures of a sequence for metrics, since it was opened.
type Stats struct {
	Issued   uint64 // numbers that were handed out
	Reserved uint64 // numbers that Options.Reserved did not let out
	Left     int64  // numbers in memory
	Block    int64  // how many numbers the last block had
	Blocks   uint64 // blocks that were taken
	Failures uint64 // attempts to take a block that failed
	Err      error  // of the last attempt; nil if it succeeded
}

// Stats returns the statistics of this process.
func (n *Sequence) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.current.Load()
	kept := n.reserved.Load() // first: each of them is gone
	gone := b.gone()
	s := Stats{
		Issued: n.used + uint64(gone) - kept, Reserved: kept, Left: b.end - b.first - gone,
		Block: n.size, Blocks: n.blocks, Failures: n.failures, Err: n.err,
	}
	if n.spare != nil {
		s.Left += n.spare.end - n.spare.first
	}
	return s
}

// Parse reads a number of this sequence as people type it, and refuses a mistyped one
// if it has check digits: see [number.ParseChecked] and [number.Parse].
func (n *Sequence) Parse(text string) (number.Number, error) {
	if n.options.CheckDigit {
		return number.ParseChecked(text)
	}
	return number.Parse(text)
}

// Error says why a sequence gives no number.
type Error struct {
	Sequence string // its name
	Source   string // the database, without secrets
	Err      error  // why: sqldb.ErrUnavailable, ErrUsedUp, ErrClosed, a context that ended ...
}

func (e *Error) Error() string {
	return fmt.Sprintf("store: no number of the sequence %q from %q: %v", e.Sequence, e.Source, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
