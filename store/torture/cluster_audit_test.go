//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// claim is what an error of package store says about a change.
type claim string

const (
	made    claim = "made"
	notMade claim = "not made"
	unknown claim = "unknown"
)

func claimOf(err error) claim {
	switch {
	case err == nil:
		return made
	case errors.Is(err, store.ErrOutcomeUnknown):
		return unknown
	}
	return notMade
}

// said is the error of the server or of the driver, in short.
func said(err error) string {
	var number string
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		number = fmt.Sprintf("%d %s", e.Number, e.Message)
	}
	switch {
	case err == nil:
		return "ok"
	case number != "":
		return number[:min(len(number), 60)]
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	case errors.Is(err, store.ErrUnavailable):
		return "connection lost or refused"
	}
	return err.Error()
}

// audit changes rows through all nodes at once, holds what package store said
// of each change against what is there at the end, and counts.
type audit struct {
	pause time.Duration // between the calls of a goroutine

	mu       sync.Mutex
	changes  []change
	swaps    map[gameid.ServerID]map[int64][]claim // of compare-and-set, by the epoch that was expected
	overtime int                                   // calls that took more than a second longer than their context
}

// change is the insert of one player.
type change struct {
	id        gameid.ID
	how, said string
	claim     claim
}

const (
	callTimeout = 3 * time.Second
	pause       = 2 * time.Millisecond

	// Two rows of the registry, changed from all nodes: by Registry.CompareAndSet,
	// and by the statement in it without its repetitions.
	swapped gameid.ServerID = 900
	raw     gameid.ServerID = 901
)

// run makes changes through one node until ctx ends.
func (a *audit) run(ctx context.Context, wg *sync.WaitGroup, db *store.DB, node int) {
	within := func(timeout time.Duration, do func(ctx context.Context)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
				start := time.Now()
				do(call)
				cancel()
				a.addTime(time.Since(start) - timeout)
				time.Sleep(a.pause)
			}
		})
	}
	repeat := func(do func(ctx context.Context)) { within(callTimeout, do) }
	for i := range 3 { // who waits until a member that is cut off has an answer
		patient := a.playersOf(gameid.ServerID(120 + 10*node + i))
		within(10*callTimeout, func(ctx context.Context) {
			p := patient()
			a.changed(p, "patient", db.InTx(ctx, func(tx *store.Tx) error { return starter.Players.Insert(ctx, tx, p) }))
		})
	}
	players := a.playersOf(gameid.ServerID(100 + node))
	repeat(func(ctx context.Context) {
		p := players()
		a.changed(p, "insert", starter.Players.Insert(ctx, db, p))
	})
	inTx := a.playersOf(gameid.ServerID(110 + node))
	repeat(func(ctx context.Context) {
		p := inTx()
		a.changed(p, "transaction", db.InTx(ctx, func(tx *store.Tx) error {
			var n int
			if err := tx.Get(ctx, &n, "SELECT n FROM contended"); err != nil {
				return err
			}
			if err := starter.Players.Insert(ctx, tx, p); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE contended SET n = n + 1") // the same row on all nodes
			return err
		}))
	})
	repeat(func(ctx context.Context) {
		rec, err := storetest.World(db).Load(ctx, swapped)
		if err != nil {
			return // nothing was changed
		}
		ok, err := storetest.World(db).CompareAndSet(ctx, swapped, rec, gameid.Claim{Reserved: rec.Epoch + 1, Lease: time.Second})
		switch {
		case err != nil:
			a.swap(swapped, rec.Epoch, unknown)
		case ok:
			a.swap(swapped, rec.Epoch, made)
		default:
			a.swap(swapped, rec.Epoch, notMade)
		}
	})
	repeat(func(ctx context.Context) {
		rec, err := storetest.World(db).Load(ctx, raw)
		if err != nil {
			return
		}
		result, err := db.Exec(ctx, "UPDATE gameid_servers SET epoch = epoch + 1 WHERE server_id = ? AND epoch = ?", raw, rec.Epoch)
		claim := claimOf(err)
		a.record(change{how: "compare-and-set", said: said(err), claim: claim})
		if err == nil {
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				claim = notMade
			}
		}
		a.swap(raw, rec.Epoch, claim)
	})
}

// playersOf makes players of a server that nobody mints for.
func (a *audit) playersOf(server gameid.ServerID) func() entity.Player {
	n := 0
	now := entity.Time(time.Now())
	return func() entity.Player {
		n++
		id, err := gameid.Make(gameid.Epoch().Add(time.Hour+time.Duration(n)*time.Millisecond), server, 0)
		if err != nil {
			panic(err)
		}
		return entity.Player{ID: gameid.As[entity.Player](id), Account: "audit", Name: id.String(), Level: 1, CreatedAt: now, UpdatedAt: now}
	}
}

func (a *audit) changed(p entity.Player, how string, err error) {
	a.record(change{p.ID.ID(), how, said(err), claimOf(err)})
}

func (a *audit) record(c change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes = append(a.changes, c)
}

func (a *audit) swap(server gameid.ServerID, epoch int64, c claim) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.swaps == nil {
		a.swaps = map[gameid.ServerID]map[int64][]claim{swapped: {}, raw: {}}
	}
	a.swaps[server][epoch] = append(a.swaps[server][epoch], c)
}

func (a *audit) addTime(longer time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if longer > time.Second {
		a.overtime++
	}
}

// swapsMade returns how many compare-and-sets were made so far.
func (a *audit) swapsMade() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, claims := range a.swaps[swapped] {
		if slices.Contains(claims, made) {
			n++
		}
	}
	return n
}

// check holds what was said against what is there.
func (a *audit) check(t *testing.T, db *store.DB) {
	t.Helper()
	var stored []gameid.ID
	must(t, db.Select(t.Context(), &stored, "SELECT id FROM players WHERE account = 'audit'"))
	there := make(map[gameid.ID]bool)
	for _, id := range stored {
		there[id] = true
	}
	inTransactions := 0
	type line struct {
		how, said string
		claim     claim
	}
	counts := make(map[line][2]int)
	for _, c := range a.changes {
		count := counts[line{c.how, c.said, c.claim}]
		count[0]++
		if there[c.id] {
			count[1]++
			if c.how == "transaction" {
				inTransactions++
			}
		}
		counts[line{c.how, c.said, c.claim}] = count
		if c.id.IsValid() && (c.claim == made && !there[c.id] || c.claim == notMade && there[c.id]) {
			t.Errorf("%s: the server said %q, which store took for %q, and the row is there: %t", c.how, c.said, c.claim, there[c.id])
		}
	}
	var n int
	must(t, db.Get(t.Context(), &n, "SELECT n FROM contended"))
	if n != inTransactions {
		t.Errorf("%d transactions are there by their players, %d by their count", inTransactions, n)
	}

	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "change\tserver said\tstore took it for\ttimes\tmade after all")
	for _, l := range slices.SortedFunc(maps.Keys(counts), func(a, b line) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}) {
		after := fmt.Sprint(counts[l][1])
		if l.how == "compare-and-set" {
			after = "see below"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%s\n", l.how, l.said, l.claim, counts[l][0], after)
	}
	for _, server := range []gameid.ServerID{swapped, raw} {
		a.checkSwaps(t, db, server, &table)
	}
	out.Flush()
	t.Logf("\n%s\n%d calls took more than a second longer than their context", &table, a.overtime)
}

// checkSwaps demands that every epoch was raised once: by the one that was
// told so, or, if nobody was, by one of those whose outcome is unknown.
func (a *audit) checkSwaps(t *testing.T, db *store.DB, server gameid.ServerID, report *strings.Builder) {
	t.Helper()
	rec, err := storetest.World(db).Load(t.Context(), server)
	must(t, err)
	count := make(map[claim]int)
	silent := 0
	for epoch, claims := range a.swaps[server] {
		of := make(map[claim]int)
		for _, c := range claims {
			of[c]++
			count[c]++
		}
		switch {
		case of[made] > 1:
			t.Errorf("epoch %d of server %d was handed to %d callers", epoch, server, of[made])
		case of[made] == 1 && epoch >= rec.Epoch:
			t.Errorf("epoch %d of server %d was raised, and is lost: it is %d", epoch, server, rec.Epoch)
		case of[made] == 0 && epoch < rec.Epoch && of[unknown] == 0:
			t.Errorf("epoch %d of server %d was raised by somebody who was told that it was not", epoch, server)
		case of[made] == 0 && epoch < rec.Epoch:
			silent++
		}
	}
	if made := int64(count[made] + silent); made != rec.Epoch && made != rec.Epoch-1 { // 901 begins at 1
		t.Errorf("server %d: epoch %d after %d changes", server, rec.Epoch, made)
	}
	fmt.Fprintf(report, "server %d: epoch %d; %d compare-and-sets made, %d not, %d of unknown outcome of which %d were made\n",
		server, rec.Epoch, count[made], count[notMade], count[unknown], silent)
}
