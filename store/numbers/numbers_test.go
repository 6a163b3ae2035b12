package numbers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/number"
	"mergesafe/store"
	storefleet "mergesafe/store/fleet"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// ran opens and closes the node of a server, after which it may take numbers.
func ran(t testing.TB, db *store.DB, server gameid.ServerID) {
	t.Helper()
	node, err := db.OpenNode(t.Context(), server, nodeOptions)
	must(t, err)
	must(t, node.Close())
}

var (
	openFleet       = storetest.OpenFleet
	newFleet        = storetest.NewFleet
	onEachWithFleet = storetest.OnEachWithFleet
)

// onEachWithShare gives the test the database of server 7.
func onEachWithShare(t *testing.T, test func(t *testing.T, db *store.DB, dsn string)) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		db := withTables(t, dsn)
		ran(t, db, 7)
		test(t, db, dsn)
	})
}

// sequence is what a test opens again and again.
type sequence func(numbers.Options) (*numbers.Sequence, error)

func share(t testing.TB, db *store.DB) sequence {
	return func(o numbers.Options) (*numbers.Sequence, error) {
		return numbers.Open(t.Context(), db.Registry(), 7, "player", o)
	}
}

func shared(t testing.TB, f *fleet.Fleet) sequence {
	return func(o numbers.Options) (*numbers.Sequence, error) {
		return numbers.OpenShared(t.Context(), (*storefleet.Fleet)(f), "player", o)
	}
}

func (s sequence) open(t testing.TB, o numbers.Options) *numbers.Sequence {
	t.Helper()
	o.Timeout = cmp.Or(o.Timeout, time.Minute) // on a busy machine 10 s may be too short
	n, err := s(o)
	must(t, err)
	t.Cleanup(func() { n.Close() }) // tests that care look at the error themselves
	return n
}

// take takes so many numbers.
func take(t testing.TB, n *numbers.Sequence, count int) []number.Number {
	t.Helper()
	var got []number.Number
	for range count {
		next, err := n.Next(t.Context())
		must(t, err)
		got = append(got, next)
	}
	return got
}

// run returns the numbers from first to last.
func run(first, last number.Number) (all []number.Number) {
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}

func same(t testing.TB, what string, got, want []number.Number) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestNumberSpaces reads off every number whose it is.
func TestNumberSpaces(t *testing.T) {
	// owner tells the server of a number, 0 for a fleet registry, by the rule.
	owner := func(n int64) gameid.ServerID {
		text := fmt.Sprint(n)
		if text[0] != '9' {
			return 0
		}
		length := int(text[1] - '0')
		server, err := gameid.ParseServerID(text[2 : 2+length])
		if err != nil || len(text) < 2+length+4 {
			t.Fatalf("%d is nobody's: %v", n, err)
		}
		return server
	}
	rapid.Check(t, func(t *rapid.T) {
		server := gameid.ServerID(rapid.SampledFrom([]uint32{0, 1, 9, 10, 99, 100, 12345, 999_999, 1_000_000, uint32(gameid.MaxServer)}).Draw(t, "server"))
		if rapid.Bool().Draw(t, "any") {
			server = gameid.ServerID(rapid.Uint32Range(1, uint32(gameid.MaxServer)).Draw(t, "any server"))
		}
		digits := rapid.IntRange(14, 15).Draw(t, "digits")
		spans := numbers.Spans(server, digits)
		before, least := int64(0), int64(0)
		for _, s := range spans {
			if s[0] < before || s[0] >= s[1] || s[1]-1 > int64(number.Max) || len(fmt.Sprint(s[1]-1)) > digits {
				t.Fatalf("spans %v", spans)
			}
			for _, n := range []int64{s[0], s[1] - 1, rapid.Int64Range(s[0], s[1]-1).Draw(t, "n")} {
				if got := owner(n); got != server {
					t.Errorf("%d of server %s is that of server %s by the rule", n, server, got)
				}
			}
			before, least = s[1], least+s[1]-s[0]
		}
		if least < 100_000 {
			t.Errorf("server %s has %d numbers only", server, least)
		}
	})
	// Nothing is left out but what begins with 9.
	all := int64(0)
	for _, s := range numbers.Spans(0, 5) {
		all += s[1] - s[0]
	}
	if all != 99_999-11_111 {
		t.Errorf("a fleet registry has %d numbers of up to 5 digits", all)
	}
}

func TestNumbers(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, db *store.DB, _ string) {
		s := share(t, db)
		n := s.open(t, numbers.Options{})
		same(t, "the first", take(t, n, 3), run(9170000, 9170002))
		if got := n.Stats(); got.Issued != 3 || got.Left != 17 || got.Block != 20 || got.Blocks != 1 || got.Failures != 0 || got.Err != nil {
			t.Errorf("stats %+v", got)
		}
		same(t, "over several blocks", take(t, n, 1000), run(9170003, 9171002))
		if got := n.Stats(); got.Issued != 1003 || got.Blocks < 3 || got.Block <= 20 || got.Left < 0 {
			t.Errorf("stats %+v", got)
		}

		// Close gives back what was not handed out, and ends it.
		must(t, n.Close())
		must(t, n.Close())
		if got, err := n.Next(t.Context()); got != 0 || !errors.Is(err, numbers.ErrClosed) {
			t.Errorf("after Close: %d, %v", got, err)
		}
		if got := n.Stats(); got.Issued != 1003 || got.Left != 0 {
			t.Errorf("stats after Close: %+v", got)
		}
		n = s.open(t, numbers.Options{})
		same(t, "after Close", take(t, n, 2), run(9171003, 9171004))

		// Another process has a block of its own; then the first cannot give
		// back its rest.
		other := s.open(t, numbers.Options{})
		mine := take(t, other, 1)[0]
		if mine <= 9171004 || mine > 9171004+20 {
			t.Errorf("of another: %d", mine)
		}
		must(t, n.Close())
		must(t, other.Close())
		n = s.open(t, numbers.Options{})
		same(t, "after both", take(t, n, 1), run(mine+1, mine+1))

		// Other sequences have nothing to do with it.
		quests, err := numbers.Open(t.Context(), db.Registry(), 7, "quest", numbers.Options{})
		must(t, err)
		same(t, "of another sequence", take(t, quests, 1), run(9170000, 9170000))
		must(t, quests.Close())
	})
}

// The next block comes when four fifths of one are gone, and not before.
func TestNumbersAhead(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, db *store.DB, _ string) {
		n := share(t, db).open(t, blocksOf20)
		take(t, n, 16)
		if got := n.Stats(); got.Blocks != 1 || got.Left != 4 {
			t.Errorf("before: %+v", got)
		}
		take(t, n, 1)
		for end := time.Now().Add(time.Minute); n.Stats().Blocks == 1 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if got := n.Stats(); got.Blocks != 2 || got.Left != 3+20 {
			t.Errorf("after: %+v", got)
		}
	})
}

func TestNumbersStart(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, db *store.DB, _ string) {
		s := share(t, db)
		n := s.open(t, numbers.Options{Start: 5})
		same(t, "below the share", take(t, n, 1), run(9170000, 9170000))
		must(t, n.Close())
		n = s.open(t, numbers.Options{Start: 9179995, MinBlock: 3, MaxBlock: 3})
		same(t, "over the end of the first span", take(t, n, 10), append(run(9179995, 9179999), run(91700000, 91700004)...))
		must(t, n.Close())
		n = s.open(t, numbers.Options{Start: 1})
		same(t, "below what was used", take(t, n, 1), run(91700005, 91700005))
		must(t, n.Close())
		end := numbers.Spans(7, 15)
		n = s.open(t, numbers.Options{Start: number.Number(end[len(end)-1][1] - 2)})
		take(t, n, 2)
		if got, err := n.Next(t.Context()); !errors.Is(err, numbers.ErrUsedUp) || !strings.Contains(err.Error(), "server 7's share; a fleet registry has more") {
			t.Errorf("at the end of all: %d, %v", got, err)
		}
	})
}

func TestFleetNumbers(t *testing.T) {
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		s := shared(t, f)
		one, two := s.open(t, numbers.Options{MinBlock: 4, MaxBlock: 4}), s.open(t, numbers.Options{MinBlock: 4, MaxBlock: 4})
		same(t, "of one world", take(t, one, 3), run(1, 3))
		same(t, "of another", take(t, two, 3), []number.Number{5, 6, 7})
		must(t, one.Close())
		must(t, two.Close())
		n := s.open(t, numbers.Options{Start: 85})
		same(t, "what begins with 9 is left out", take(t, n, 8), append(run(85, 89), run(100, 102)...))
		must(t, n.Close())

		// A world may go over to it: see TestNumberSpaces.
		db := withTables(t, newDSN())
		if _, err := numbers.Open(t.Context(), db.Registry(), 7, "player", numbers.Options{}); err == nil || !strings.Contains(err.Error(), "server 7 has never run on") {
			t.Errorf("of a server that never ran: %v", err)
		}
	})
}

func TestNumbersRefused(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, db *store.DB, _ string) {
		exec(t, db, "UPDATE gameid_servers SET role = 'merged'")
		_, err := share(t, db)(numbers.Options{})
		if err == nil || !strings.Contains(err.Error(), "server 7 was merged into") {
			t.Errorf("of a server that was merged in: %v", err)
		}
		exec(t, db, "UPDATE gameid_servers SET role = 'own'")
		must(t, share(t, db).open(t, numbers.Options{}).Close())
		_, err = share(t, db)(numbers.Options{CheckDigit: true})
		if err == nil || !strings.Contains(err.Error(), `the sequence "player"`) || !strings.Contains(err.Error(), "it was begun without check digits and is now opened with check digits") {
			t.Errorf("with check digits where there were none: %v", err)
		}
		for name, o := range map[string]numbers.Options{
			"":                                 {},
			strings.Repeat("x", 65):            {},
			"a\nb":                             {},
			"Start is -1":                      {Start: -1},
			"Start is 1000000000000000":        {Start: number.Max + 1},
			"MinBlock is -1":                   {MinBlock: -1},
			"MinBlock is 3 and MaxBlock 2":     {MinBlock: 3, MaxBlock: 2},
			"MinBlock is 20 and MaxBlock 1000": {MaxBlock: 100_000_000},
			"BlockTime is -1s":                 {BlockTime: -time.Second},
			"Timeout is -1s":                   {Timeout: -time.Second},
		} {
			_, err := numbers.Open(t.Context(), db.Registry(), 7, name, o)
			if want := name; err == nil || len(name) > 20 && len(name) < 60 && !strings.Contains(err.Error(), want) {
				t.Errorf("%q %+v: %v", name, o, err)
			}
		}
		if _, err := numbers.Open(t.Context(), db.Registry(), 0, "player", numbers.Options{}); err == nil {
			t.Error("server 0 has numbers")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := numbers.Open(ended, db.Registry(), 7, "player", numbers.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}

func TestNumbersCheckDigit(t *testing.T) {
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		n := shared(t, f).open(t, numbers.Options{CheckDigit: true, Start: 10_000_001})
		for i, got := range take(t, n, 200) {
			if !got.Checked() || got/10 != number.Number(1_000_001+i) {
				t.Fatalf("number %d is %d", i, got)
			}
			if again, err := n.Parse(got.Spaced()); again != got || err != nil {
				t.Errorf("%s is read as %d, %v", got.Spaced(), again, err)
			}
			if again, err := n.Parse((got ^ 1).String()); err == nil {
				t.Errorf("%d is taken for right", again)
			}
		}
	})
}

func TestNumbersReserved(t *testing.T) {
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		n := shared(t, f).open(t, numbers.Options{Reserved: number.Pretty})
		same(t, "without the pretty ones", take(t, n, 110), append(run(1001, 1009), append(run(1011, 1110), 1112)...))
		if got := n.Stats(); got.Issued != 110 || got.Reserved != 891 {
			t.Errorf("stats %+v", got)
		}
		must(t, n.Close())
		none := shared(t, f).open(t, numbers.Options{MinBlock: 200_000, MaxBlock: 200_000, Reserved: func(number.Number) bool { return true }})
		if got, err := none.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "Reserved reserves 100000 numbers in a row") {
			t.Errorf("where all are reserved: %d, %v", got, err)
		}
	})
}

// A row that says less than the game's tables, or than this process knows,
// makes no number come twice.
func TestNumbersRestored(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, db *store.DB, _ string) {
		for _, check := range []bool{false, true} {
			exec(t, db, "DELETE FROM players")
			exec(t, db, "DELETE FROM gameid_numbers")
			o := numbers.Options{CheckDigit: check, MinBlock: 10, MaxBlock: 10, InUse: starter.Players.NumbersIn(db)}
			p := player(1)
			n := share(t, db).open(t, o)
			p.Number = take(t, n, 35)[34]
			must(t, starter.Players.Insert(t.Context(), db, p))
			exec(t, db, "UPDATE gameid_numbers SET next_number = next_number - 30")
			for _, got := range take(t, n, 35) {
				if got <= p.Number {
					t.Errorf("check digits %t: after the row was restored %d comes again", check, got)
				}
			}
			must(t, n.Close())
			for _, lose := range []string{"DELETE FROM gameid_numbers", "UPDATE gameid_numbers SET next_number = 9170000"} {
				exec(t, db, lose)
				n := share(t, db).open(t, o)
				if got := take(t, n, 1)[0]; got <= p.Number || got > p.Number+20 {
					t.Errorf("check digits %t: the players have numbers up to %d, and the next is %d", check, p.Number, got)
				}
				must(t, n.Close())
			}
			// A process that runs on does not need its row.
			n = share(t, db).open(t, o)
			last := take(t, n, 1)[0]
			exec(t, db, "DELETE FROM gameid_numbers")
			var got []number.Number
			for len(got) < 30 {
				next, err := n.Next(t.Context())
				if err == nil {
					got = append(got, next)
				}
			}
			if got[0] <= last || !slices.IsSorted(got) {
				t.Errorf("without its row: %d and then %v", last, got)
			}
			must(t, n.Close())
		}
	})
}

// Whatever several processes do, no number comes twice, and each is in the
// space of its source.
func TestNumbersProperty(t *testing.T) {
	storetest.OnOneOrEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, newDSN func() string) {
		db := withTables(t, newDSN())
		ran(t, db, 7)
		seen := make(map[number.Number]bool)
		rapid.Check(t, func(rt *rapid.T) {
			var open []*numbers.Sequence
			of := make(map[*numbers.Sequence]gameid.ServerID)
			defer func() {
				for _, n := range open {
					n.Close()
				}
			}()
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				what := rapid.SampledFrom([]string{"open", "open", "take", "take", "take", "close", "crash"}).Draw(rt, "what")
				if what == "open" || len(open) == 0 {
					o := numbers.Options{MinBlock: rapid.IntRange(1, 30).Draw(rt, "block")}
					s, server := shared(t, f), gameid.ServerID(0)
					if rapid.Bool().Draw(rt, "share") {
						s, server = share(t, db), 7
					}
					n, err := s(o)
					if err != nil {
						rt.Fatal(err)
					}
					open, of[n] = append(open, n), server
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
				n := open[i]
				switch what {
				case "take":
					for range rapid.IntRange(1, 60).Draw(rt, "count") {
						got, err := n.Next(t.Context())
						if err != nil {
							rt.Fatal(err)
						}
						if seen[got] {
							rt.Fatalf("%d came twice", got)
						}
						seen[got] = true
						if of[n] == 0 == strings.HasPrefix(got.String(), "9") {
							rt.Fatalf("%d is not in the space of server %s", got, of[n])
						}
					}
				case "close":
					if err := n.Close(); err != nil {
						rt.Fatal(err)
					}
					open = slices.Delete(open, i, i+1)
				case "crash": // what it has is lost
					open = slices.Delete(open, i, i+1)
					t.Cleanup(func() { n.Close() })
				}
			}
		})
	})
}

// Many goroutines of several processes on one row.
func TestNumbersContention(t *testing.T) {
	onEachWithShare(t, func(t *testing.T, _ *store.DB, dsn string) {
		const processes, goroutines, count = 4, 4, 100
		taken := make([][]number.Number, processes*goroutines)
		var wg sync.WaitGroup
		for i := range processes {
			db := open(t, dsn)
			n := share(t, db).open(t, numbers.Options{MinBlock: 1, MaxBlock: 7, Timeout: time.Minute})
			for j := range goroutines {
				wg.Go(func() {
					mine := &taken[i*goroutines+j]
					for range count {
						got, err := n.Next(t.Context())
						for errors.Is(err, store.ErrRetryable) { // SQLite has no queue
							got, err = n.Next(t.Context())
						}
						if err != nil {
							t.Error(err)
							return
						}
						*mine = append(*mine, got)
					}
				})
			}
		}
		wg.Wait()
		seen := make(map[number.Number]bool)
		for _, of := range taken {
			if !slices.IsSorted(of) {
				t.Error("within a goroutine numbers do not rise")
			}
			for _, n := range of {
				if seen[n] {
					t.Errorf("%d came twice", n)
				}
				seen[n] = true
			}
		}
		if len(seen) != processes*goroutines*count {
			t.Errorf("got %d numbers", len(seen))
		}
	})
}

// What Close gives back nobody has got meanwhile.
func TestNumbersCloseMeanwhile(t *testing.T) {
	db := withTables(t, "sqlite:"+t.TempDir()+"/game.db")
	ran(t, db, 7)
	const goroutines = 4
	var last number.Number
	for range 20 {
		n := share(t, db).open(t, numbers.Options{MinBlock: 100_000})
		taken := make([][]number.Number, goroutines)
		var began, done sync.WaitGroup
		for i := range goroutines {
			began.Add(1)
			done.Go(func() {
				for {
					got, err := n.Next(t.Context())
					if len(taken[i]) == 0 {
						began.Done()
					}
					if err != nil {
						if !errors.Is(err, numbers.ErrClosed) {
							t.Error(err)
						}
						return
					}
					taken[i] = append(taken[i], got)
				}
			})
		}
		began.Wait()
		must(t, n.Close())
		done.Wait()
		before := last
		for _, of := range taken {
			if len(of) > 0 && of[0] <= before {
				t.Fatalf("%d was taken before the last Close, and %d after it", before, of[0])
			}
			last = max(last, slices.Max(append(of, 0)))
		}
	}
}

func TestAdaptBlock(t *testing.T) {
	for _, test := range []struct {
		last, used int64
		in, target time.Duration
		want       int64
	}{
		{100, 80, 8 * time.Minute, 10 * time.Minute, 100},
		{100, 80, 4 * time.Minute, 10 * time.Minute, 200},
		{100, 80, time.Second, 10 * time.Minute, 200}, // at most twice
		{100, 80, 0, 10 * time.Minute, 200},
		{100, 80, 5 * time.Minute, 10 * time.Minute, 160},
		{100, 80, time.Hour, 10 * time.Minute, 50}, // at least half
		{100, 80, 12 * time.Minute, 10 * time.Minute, 66},
	} {
		if got := numbers.AdaptBlock(test.last, test.used, test.in, test.target); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

func TestNumbersAllocations(t *testing.T) {
	db := withTables(t, "sqlite:"+t.TempDir()+"/game.db")
	ran(t, db, 7)
	n := share(t, db).open(t, numbers.Options{MinBlock: 100_000, CheckDigit: true, Reserved: func(n number.Number) bool { return n%7 == 0 }})
	take(t, n, 1)
	if got := testing.AllocsPerRun(1000, func() { n.Next(t.Context()) }); got != 0 {
		t.Errorf("Next allocates %v times", got)
	}
}
