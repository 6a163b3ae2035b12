package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"mergesafe/gameid"
	"mergesafe/number"
)

var (
	// ErrNumbersUsedUp: the share of the space that the numbers come from has
	// no more.
	ErrNumbersUsedUp = errors.New("numbers used up")

	// ErrNumbersClosed: the Numbers were closed.
	ErrNumbersClosed = errors.New("numbers closed")
)

// Numbers hands out the short numbers of one sequence, which a game shows and
// players read aloud: 10 084 213. No number comes twice, also after a crash, a
// lost answer or a merge. Any number of goroutines may use it, and any number
// of processes may have the same sequence open.
//
// Numbers are taken by the block and handed out from memory. When four fifths
// of a block are gone, the next is taken in the background, so that nobody has
// to wait. A block is a row's counter raised by its size, in one statement; an
// answer that is lost loses a block. A crash loses what was taken and not
// handed out: the rest of one block, and the next one if that was taken. Close
// gives it back where nobody has taken any since.
//
// Within a process numbers rise. Between processes they do not: each has
// blocks of its own.
//
// # Where the numbers come from
//
// With a fleet registry, [Fleet.OpenNumbers], all worlds share one dense
// sequence: 1, 2, 3 ... Those that begin with 9 are left out.
//
// Without one, [DB.OpenNumbers], each world has a share of its own, which
// follows from its server number: a 9, how many digits the server number has,
// the server number, and then at least four digits that count. Server 7 begins
// with 9 1 7 0000 and after 10,000 numbers goes on with 9 1 7 00000; server 12
// has 9 2 12 0000. So worlds that do not know of one another do not have the
// same number, as long as they do not have the same server number, which is
// what their IDs rely on as well.
//
// The two do not overlap. A world may go over to a fleet registry at any time,
// keep the numbers that it has, and get new ones from there.
//
// # Faults
//
// While the database is away numbers are handed out to the end of what was
// taken; then Next returns a [*NumbersError] with the cause, at once. Attempts
// go on in the background, about every two seconds, so it recovers by itself.
//
// A database that was restored from a backup would give out again what it gave
// out since. A process that ran through the restore notices, and goes on after
// its last number; one that starts afterwards knows what NumbersOptions.InUse
// tells. With a fleet registry that covers the worlds' own numbers only, so
// after restoring one start all worlds once, or raise Start, before new
// players come.
type Numbers struct {
	name    string
	source  string // the database, for people
	options NumbersOptions
	seq     *sequence // used by one goroutine at a time: OpenNumbers, run, Close

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

// gone returns how many numbers of the block were handed out or kept back.
func (b *block) gone() int64 { return min(b.next.Load(), b.end) - b.first }

// OpenNumbers opens a sequence of numbers of a world that has no fleet
// registry: they come from the share of its server, which must have had a node
// on this database. Take numbers before a transaction rather than inside, as
// with IDs. Close the Numbers before the database.
//
// If the database cannot be reached, it returns the Numbers nevertheless, and
// Next says why there are none until it can.
func (db *DB) OpenNumbers(ctx context.Context, server gameid.ServerID, name string, options NumbersOptions) (*Numbers, error) {
	if err := server.Validate(); err != nil {
		return nil, err
	}
	q := &sequence{db: db, pool: db.registry, table: NumbersTable, server: server}
	q.admit = func(ctx context.Context) error {
		if err := db.CheckSchema(ctx); err != nil {
			return err
		}
		own, err := db.serverOf(ctx, server)
		switch {
		case err != nil:
			return err
		case own.Role == RoleMerged:
			return fmt.Errorf("store: server %s came to %q by a merge: it has no share of the numbers here", server, db.name)
		case own.World == "":
			return fmt.Errorf("store: server %s has never run on %q: open its node first, or correct the number", server, db.name)
		}
		return nil
	}
	return openNumbers(ctx, q, name, options)
}

// OpenNumbers opens a sequence of numbers that all worlds of the fleet share.
// Close the Numbers before the Fleet.
//
// If the fleet registry cannot be reached, it returns the Numbers
// nevertheless, and Next says why there are none until it can. A fleet
// registry that was made before there were numbers is a [*SchemaError]: run
// "gameid servers init" once more.
func (f *Fleet) OpenNumbers(ctx context.Context, name string, options NumbersOptions) (*Numbers, error) {
	q := &sequence{db: f.db, pool: f.db.pool, table: fleetNumbersTable}
	q.admit = func(ctx context.Context) error {
		if _, err := f.identity(ctx); err != nil {
			return err
		}
		query := "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
		if f.db.dialect == MySQL {
			query = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
		}
		var n int
		err := f.db.Get(ctx, &n, query, fleetNumbersTable)
		if err == nil && n == 0 {
			err = &SchemaError{Reason: fmt.Sprintf(`the table %q is missing: the fleet registry was made by an older version; run "gameid servers init" once more`, fleetNumbersTable)}
		}
		return f.fault(err)
	}
	return openNumbers(ctx, q, name, options)
}

func openNumbers(ctx context.Context, q *sequence, name string, options NumbersOptions) (*Numbers, error) {
	options, err := options.withDefaults(name)
	if err != nil {
		return nil, err
	}
	digits, start := numberDigits, int64(options.Start)
	if options.CheckDigit {
		digits--
		start = (start + 9) / 10
		q.check = checkDamm
	}
	q.name, q.inUse, q.floor = name, options.InUse, start
	q.space = fleetSpace(digits)
	if q.server != 0 {
		q.space = shareSpace(q.server, digits)
	}
	n := &Numbers{
		name: name, source: q.db.name, options: options, seq: q,
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

// unreachable reports whether err says nothing but that the database is away,
// or too busy.
func unreachable(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRetryable) || isContext(err)
}

// Next returns the next number. It does not touch the database, but where
// numbers are used up faster than blocks come: then it waits for one, until
// ctx ends. If there is no number, the error is a [*NumbersError].
func (n *Numbers) Next(ctx context.Context) (number.Number, error) {
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
	return 0, n.fault(fmt.Errorf("NumbersOptions.Reserved keeps back %d numbers in a row", most))
}

func (n *Numbers) fault(err error) error {
	return &NumbersError{Sequence: n.name, Source: n.source, Err: err}
}

// advance returns when there is another current block than b, which is used
// up.
func (n *Numbers) advance(ctx context.Context, b *block) error {
	for {
		n.mu.Lock()
		switch {
		case n.closed:
			n.mu.Unlock()
			return ErrNumbersClosed
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

// rouse has run look for something to do.
func (n *Numbers) rouse() {
	select {
	case n.wake <- struct{}{}:
	default: // it will
	}
}

// run takes blocks.
func (n *Numbers) run(ctx context.Context) {
	defer close(n.idle)
	const first, most = 50 * time.Millisecond, 2 * time.Second
	for {
		select {
		case <-n.wake:
		case <-ctx.Done():
			return
		}
		// An attempt that has begun comes to its end: broken off it could have
		// taken a block that nobody gets.
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
func (n *Numbers) lacking() bool {
	b := n.current.Load()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.spare == nil && b.next.Load() >= b.refill
}

// fetch takes the next block.
func (n *Numbers) fetch(ctx context.Context) error {
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
func (n *Numbers) nextSize() int64 {
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

// adapt returns the size of a block that lasts for target, when so many
// numbers were used in a time. It is at most twice, and at least half, of the
// last one: one busy second is no rate, and what a crash loses is no more than
// what was used.
func adapt(last, used int64, in, target time.Duration) int64 {
	want := float64(used) * float64(target) / float64(max(in, time.Microsecond))
	return int64(min(max(want, float64(last)/2), float64(last)*2))
}

// Close ends the sequence and gives back what was taken and not handed out, if
// nobody has taken any since. An error says that it was not given back: those
// numbers are lost, and nothing else. It waits for a block that is being taken,
// at most NumbersOptions.Timeout, and takes as much again for giving back.
// Further calls do nothing. Calls of Next that wait, or come later, return
// [ErrNumbersClosed].
func (n *Numbers) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		<-n.idle
		return nil
	}
	n.closed = true
	close(n.attempt) // whoever waits for it waits no more
	n.attempt = make(chan struct{})
	n.mu.Unlock()
	n.cancel()
	<-n.idle

	n.mu.Lock()
	b := n.current.Load()
	// From here on nobody gets a number of this block.
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

// NumbersStats is what a metric shows of a sequence, since it was opened.
type NumbersStats struct {
	Issued   uint64 // numbers that were handed out
	Reserved uint64 // numbers that NumbersOptions.Reserved kept back
	Left     int64  // numbers in memory
	Block    int64  // how many numbers were taken last
	Blocks   uint64 // blocks that were taken
	Failures uint64 // attempts to take one that failed
	Err      error  // of the last attempt; nil if it succeeded
}

// Stats returns the statistics of this process.
func (n *Numbers) Stats() NumbersStats {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.current.Load()
	kept := n.reserved.Load() // first: each of them is gone
	gone := b.gone()
	s := NumbersStats{
		Issued: n.used + uint64(gone) - kept, Reserved: kept, Left: b.end - b.first - gone,
		Block: n.size, Blocks: n.blocks, Failures: n.failures, Err: n.err,
	}
	if n.spare != nil {
		s.Left += n.spare.end - n.spare.first
	}
	return s
}

// Parse reads a number of this sequence as people type it, and refuses one
// that is mistyped if it has check digits: see [number.ParseChecked] and
// [number.Parse].
func (n *Numbers) Parse(text string) (number.Number, error) {
	if n.options.CheckDigit {
		return number.ParseChecked(text)
	}
	return number.Parse(text)
}

// NumbersError says why a sequence gives no number.
type NumbersError struct {
	Sequence string // its name
	Source   string // the database, without what is secret
	Err      error  // why: ErrUnavailable, ErrNumbersUsedUp, ErrNumbersClosed, a context that ended ...
}

func (e *NumbersError) Error() string {
	return fmt.Sprintf("store: no number of the sequence %q from %q: %v", e.Sequence, e.Source, e.Err)
}

// Unwrap returns the cause.
func (e *NumbersError) Unwrap() error { return e.Err }
