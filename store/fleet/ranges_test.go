package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"mergesafe/store/fleet"
)

func leaseRange(t testing.TB, f *fleet.Fleet, world, space string, size, step, at, most int64) (fleet.KeyRange, error) {
	t.Helper()
	return f.LeaseRange(t.Context(), fleet.RangeWish{World: world, Space: space, Size: size, Step: step, At: at, Max: most}, note)
}

func TestLeaseRange(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		for i, test := range []struct {
			world, space         string
			size, step, at, most int64
			want                 string // "FIRST LAST", or a part of the error
		}{
			{"s1", "", 10_000_000, 0, 0, 0, "0 9999999"},                                // a world that counts from 1
			{"s2", "", 10_000_000, 0, -1, 0, "10000000 19999999"},                       // the lowest
			{"s4", "", 10_000_000, 0, 30_000_000, 0, "30000000 39999999"},               // wanted
			{"s3", "", 10_000_000, 0, -1, 0, "20000000 29999999"},                       // the gap
			{"s5", "", 5, 10, -1, 0, "40000000 40000004"},                               // beside s4, at a multiple of the step
			{"s6", "", 20, 10, -1, 0, "40000010 40000029"},                              // above that
			{"s7", "guild.id", 100, 0, -1, 0, "40000100 40000199"},                      // every kind is this kind too
			{"s8", "item.id", 100, 0, -1, 0, "40000100 40000199"},                       // another kind
			{"s9", "", 1, 0, -1, 0, "40000005 40000005"},                                // fits between the others
			{"s9", "guild.id", 100, 0, -1, 0, "40000200 40000299"},                      // a world may have several
			{"x", "", 10, 0, 40_000_100, 0, "given to \"s7\" on 20"},                    // one kind is in the way
			{"x", "guild.id", 10, 0, 40_000_020, 0, "given to \"s6\" on 20"},            // every kind is in the way
			{"x", "", 10, 10, 7, 0, "want a multiple of 10"},                            // not at a step
			{"x", "", 10, 0, -2, 0, "cannot begin at -2"},                               //
			{"x", "", 0, 0, -1, 0, "want numbers above 0"},                              //
			{"", "", 10, 0, -1, 0, "not fit for a world"},                               //
			{"x", "", 1 << 31, 0, -1, 0, "up to 2,147,483,647, the largest number"},     // no signed column of 32 bits takes it
			{"x", "", 1 << 31, 0, -1, math.MaxInt64, "2147483648 4294967295"},           // one of 64 does
			{"x", "", 10, 0, math.MaxInt64 / 10 * 10, math.MaxInt64, "no range of 10"},  // no overflow
			{"x", "", math.MaxInt64 / 3 * 2, 0, -1, math.MaxInt64, "no range of 6,148"}, // neither there
		} {
			got, err := leaseRange(t, f, test.world, test.space, test.size, test.step, test.at, test.most)
			text := fmt.Sprint(got.First, got.Last)
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, test.want) || err == nil && (got.World != test.world || got.Space != test.space || got.By != note.By || got.Why != note.Why || got.GivenAt.IsZero()) {
				t.Errorf("lease %d: got %s and %+v, want %s", i, text, got, test.want)
			}
		}
	})
}

// What was released stays on record and is given to nobody else.
func TestReleaseRange(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		first, err := leaseRange(t, f, "s1", "", 100, 0, -1, 0)
		must(t, err)
		must(t, f.ReleaseRange(t.Context(), first.Number, fleet.Note{By: "bert", Why: "s1 is closed"}))
		if err := f.ReleaseRange(t.Context(), first.Number, note); err == nil || !strings.Contains(err.Error(), "was released before") {
			t.Errorf("released again: %v", err)
		}
		if err := f.ReleaseRange(t.Context(), 9, note); err == nil || !strings.Contains(err.Error(), "there is no range 9") {
			t.Errorf("released what is not there: %v", err)
		}
		second, err := leaseRange(t, f, "s2", "", 100, 0, -1, 0)
		must(t, err)
		_, err = leaseRange(t, f, "s1", "", 100, 0, first.First, 0)
		says(t, err, fleet.ErrTaken, `meets 100 to 199, which was given to "s1"`, "no number is given twice")
		all, err := f.Ranges(t.Context())
		must(t, err)
		if len(all) != 2 || all[0].ReleasedBy != "bert" || all[0].ReleasedWhy != "s1 is closed" || all[0].ReleasedAt.IsZero() || all[1] != second || second.First != 200 {
			t.Errorf("the list is %+v", all)
		}
	})
}

// However many operators lease ranges at a time, no two have a number in common.
func TestConcurrentLeases(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, newDSN func() string) {
		dsn := newDSN()
		newFleet(t, dsn)
		const operators, each = 8, 6
		spaces := []string{"", "characters.guid", "items.id"}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var got []fleet.KeyRange
		for p := range operators {
			f := openFleet(t, dsn)
			random := rand.New(rand.NewPCG(uint64(p), 7))
			wg.Go(func() {
				for i := range each {
					r, err := leaseRange(t, f, fmt.Sprintf("w%d-%d", p, i), spaces[random.IntN(3)], 1+random.Int64N(30), 10, -1, 0)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					got = append(got, r)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		taken := make(map[string]map[int64]string)
		for _, r := range got {
			of := []string{r.Space}
			if r.Space == "" {
				of = spaces[1:]
			}
			if r.First%10 != 0 {
				t.Errorf("%+v does not begin at a multiple of 10", r)
			}
			for _, space := range of {
				if taken[space] == nil {
					taken[space] = make(map[int64]string)
				}
				for n := r.First; n <= r.Last; n++ {
					if other := taken[space][n]; other != "" {
						t.Fatalf("%d of %s was given to %s and to %s", n, space, other, r.World)
					}
					taken[space][n] = r.World
				}
			}
		}
		if len(got) != operators*each {
			t.Errorf("%d ranges were given, want %d", len(got), operators*each)
		}
	})
}

// A merge records what it gave, once; what others have is refused.
func TestRecordRanges(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		_, err := leaseRange(t, f, "s2", "", 1000, 0, 1000, 0)
		must(t, err)
		_, err = leaseRange(t, f, "s3", "", 1000, 0, 2000, 0)
		must(t, err)
		record := func(merge string, ranges ...fleet.KeyRange) error {
			return f.RecordRanges(t.Context(), merge, ranges, note)
		}
		of := func(world, space string, first, last int64) fleet.KeyRange {
			return fleet.KeyRange{World: world, Space: space, First: first, Last: last}
		}
		inLease, free, narrow := of("s2", "", 1001, 1400), of("s4", "", 3001, 3400), of("s4", "guild.id", 50, 90)
		for range 2 { // an interrupted merge resumes
			must(t, record("m1", inLease, free, narrow))
		}
		all, err := f.Ranges(t.Context())
		must(t, err)
		if len(all) != 4 || all[2].Merge != "m1" || all[2].First != 3001 || all[3].Space != "guild.id" || all[3].Last != 90 {
			t.Errorf("the list is %+v", all)
		}
		says(t, record("m2", of("s9", "", 9000, 9001), of("s2", "", 2999, 3000)), fleet.ErrTaken, `given to "s3"`)
		says(t, record("m2", of("s9", "", 3400, 3500)), fleet.ErrTaken, "by the merge m1")
		says(t, record("m2", of("s9", "", 60, 60)), fleet.ErrTaken, "50 to 90 of guild.id")
		_, err = leaseRange(t, f, "s5", "", 1000, 0, 3000, 0)
		says(t, err, fleet.ErrTaken)
		if after, err := f.Ranges(t.Context()); err != nil || len(after) != len(all) {
			t.Errorf("a refused merge recorded something: %+v, %v", after, err)
		}
	})
}

// A lost row is not given again.
func TestLostRange(t *testing.T) {
	t.Parallel()
	onEachWithFleet(t, func(t *testing.T, f *fleet.Fleet, _ func() string) {
		for range 3 {
			_, err := leaseRange(t, f, "s1", "", 100, 0, -1, 0)
			must(t, err)
		}
		exec(t, f.DB(), "DELETE FROM fleet_ranges WHERE number = 2")
		if _, err := leaseRange(t, f, "s2", "", 100, 0, -1, 0); err == nil || !strings.Contains(err.Error(), "range 2 is missing") {
			t.Errorf("with a lost row: %v", err)
		}
	})
}
