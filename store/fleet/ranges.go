package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// rangesTable is the table of ranges.
const rangesTable = "fleet_ranges"

// DefaultRangeMax is the largest number of a signed column of 32 bits.
const DefaultRangeMax = math.MaxInt32

// KeyRange is a range of integers that one world of the fleet uses for the keys of its
// rows. No other world is given a number of the range, not even after its release.
// Worlds whose keys are in ranges of their own need no new keys when they are merged.
type KeyRange struct {
	Number int64  `db:"number"` // of the range: 1, 2, ...
	World  string `db:"world"`  // whose keys they are; the name that people and config.toml use

	// Space is the kind of thing that the keys name, such as "characters.guid". Two
	// worlds may have the same numbers only in different spaces. "" is every space.
	Space string `db:"space"`

	First int64  `db:"first_key"`
	Last  int64  `db:"last_key"`
	Merge string `db:"merge_id"` // the merge that gave keys these values; empty if the range was leased

	By          string `db:"who"`
	Why         string `db:"why"`
	GivenAt     time.Time
	ReleasedAt  time.Time // zero if it was not
	ReleasedBy  string    `db:"released_by"`
	ReleasedWhy string    `db:"released_why"`
}

// String is the range in words.
func (r KeyRange) String() string {
	s := fmt.Sprintf("%s to %s", printable.Number(r.First), printable.Number(r.Last))
	if r.Space != "" {
		s += " of " + r.Space
	}
	return s
}

// Meets reports whether a key may be in both ranges.
func (r KeyRange) Meets(other KeyRange) bool {
	return (r.Space == other.Space || r.Space == "" || other.Space == "") && r.First <= other.Last && other.First <= r.Last
}

// holds reports whether all keys of another range are in it.
func (r KeyRange) holds(other KeyRange) bool {
	return (r.Space == "" || r.Space == other.Space) && r.First <= other.First && other.Last <= r.Last
}

// RangeWish describes the range that a world wants.
type RangeWish struct {
	World, Space string

	// Size is how many integers the range has.
	Size int64

	// The first number is a multiple of Step; 0 means Size, or 1 if At is given.
	Step int64

	// At is the first number that is wanted; -1 leaves the choice to the fleet registry.
	// It never chooses a range that begins below Size: worlds without a range count
	// there.
	At int64

	// Max is the largest number that the columns take; 0 means [DefaultRangeMax].
	Max int64
}

// RangeError says that a range was given to another world.
type RangeError struct {
	Wanted, Given KeyRange
}

func (e *RangeError) Error() string {
	state := "given"
	if e.Given.Merge != "" {
		state = "given by the merge " + e.Given.Merge
	}
	return fmt.Sprintf("the range %s for %q meets %s, which was %s to %q on %s (range %d), and no number is given twice",
		e.Wanted, e.Wanted.World, e.Given, state, e.Given.World, printable.Time(e.Given.GivenAt), e.Given.Number)
}

// Is reports whether target is [ErrTaken].
func (e *RangeError) Is(target error) bool { return target == ErrTaken }

// LeaseRange gives a world the lowest range that does not overlap another one, or the range
// that the world wants. Any number of callers may do so at the same time: no two get the
// same number. If the wanted range overlaps one that was given before, even if that one is
// released, LeaseRange returns a [*RangeError]. After [mergesafe/store.ErrOutcomeUnknown],
// [Fleet.Ranges] tells whether the range was given.
func (f *Fleet) LeaseRange(ctx context.Context, wish RangeWish, note Note) (KeyRange, error) {
	switch {
	case wish.Step == 0 && wish.At >= 0:
		wish.Step = 1
	case wish.Step == 0:
		wish.Step = wish.Size
	}
	wish.Max = cmp.Or(wish.Max, DefaultRangeMax)
	if err := wish.validate(); err != nil {
		return KeyRange{}, err
	}
	var given KeyRange
	err := f.addRanges(ctx, note, func(have []KeyRange) ([]KeyRange, error) {
		var err error
		given, err = wish.choose(have)
		return []KeyRange{given}, err
	})
	if err != nil {
		return KeyRange{}, err
	}
	all, err := f.Ranges(ctx)
	if i := slices.IndexFunc(all, func(r KeyRange) bool {
		return r.World == given.World && r.Space == given.Space && r.First == given.First && r.Last == given.Last
	}); err == nil && i >= 0 {
		given = all[i]
	}
	return given, err
}

func (w RangeWish) validate() error {
	if err := checkRangeWorld(w.World); err != nil {
		return err
	}
	switch {
	case strings.ContainsFunc(w.Space, unicode.IsControl) || len([]rune(w.Space)) > 200:
		return fmt.Errorf("the space %.40q: want at most 200 characters, none of them a control character", w.Space)
	case w.Size < 1 || w.Step < 1:
		return fmt.Errorf("a range of %d numbers at a multiple of %d: want numbers above 0", w.Size, w.Step)
	case w.At < -1:
		return fmt.Errorf("a range cannot begin at %d: want 0 or more", w.At)
	case w.At > 0 && w.At%w.Step != 0:
		return fmt.Errorf("a range cannot begin at %s: want a multiple of %s", printable.Number(w.At), printable.Number(w.Step))
	}
	return nil
}

func checkRangeWorld(name string) error {
	if name == "" || len([]rune(name)) > 200 || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("the name %.40q is not fit for a world: want 1 to 200 characters, none of them a control character", name)
	}
	return nil
}

// choose returns the range that the wish gets beside those that were given.
func (w RangeWish) choose(have []KeyRange) (KeyRange, error) {
	wanted := KeyRange{World: w.World, Space: w.Space}
	place := func(first int64) error {
		if first > w.Max-(w.Size-1) || first < 0 {
			return fmt.Errorf("no range of %s numbers is left up to %s, the largest number that the columns of %q are said to take: if they take more, say so (-max), or lease a smaller one",
				printable.Number(w.Size), printable.Number(w.Max), w.World)
		}
		wanted.First, wanted.Last = first, first+w.Size-1
		return nil
	}
	if w.At >= 0 {
		if err := place(w.At); err != nil {
			return wanted, err
		}
		return wanted, meets(wanted, have, nil)
	}
	if err := place(above(w.Size-1, w.Step)); err != nil {
		return wanted, err
	}
	slices.SortFunc(have, func(a, b KeyRange) int { return cmp.Compare(a.First, b.First) })
	for _, r := range have {
		if wanted.Meets(r) {
			if err := place(above(r.Last, w.Step)); err != nil {
				return wanted, err
			}
		}
	}
	return wanted, nil
}

// above returns the first multiple of step above n; -1 if it is too large.
func above(n, step int64) int64 {
	if n < 0 {
		return 0
	}
	if next := n/step + 1; next <= math.MaxInt64/step {
		return next * step
	}
	return -1
}

// meets returns a [*RangeError] if a range meets one of others, unless these are its own.
func meets(wanted KeyRange, have []KeyRange, own func(KeyRange) bool) error {
	for _, r := range have {
		if wanted.Meets(r) && (own == nil || !own(r)) {
			return &RangeError{wanted, r}
		}
	}
	return nil
}

// RecordRanges records the ranges that a merge gives to keys. A range inside one of the
// same world is not recorded again: it was leased, or an interrupted merge recorded it. If
// another world has a number of one of the ranges, RecordRanges returns a [*RangeError] and
// records nothing.
func (f *Fleet) RecordRanges(ctx context.Context, merge string, ranges []KeyRange, note Note) error {
	for _, r := range ranges {
		if err := checkRangeWorld(r.World); err != nil {
			return err
		}
	}
	return f.addRanges(ctx, note, func(have []KeyRange) (added []KeyRange, err error) {
		for _, r := range ranges {
			r.Merge = merge
			own := func(h KeyRange) bool { return h.World == r.World }
			if slices.ContainsFunc(have, func(h KeyRange) bool { return own(h) && h.holds(r) }) {
				continue
			}
			if err := meets(r, have, own); err != nil {
				return nil, err
			}
			added = append(added, r)
		}
		return added, nil
	})
}

// Ranges returns all ranges that were ever given, oldest first.
func (f *Fleet) Ranges(ctx context.Context) ([]KeyRange, error) {
	if _, err := f.Identity(ctx); err != nil {
		return nil, err
	}
	var rows []struct {
		KeyRange
		Given    int64 `db:"given_ms"`
		Released int64 `db:"released_ms"`
	}
	err := f.db.Select(ctx, &rows, `
		SELECT number, world, space, first_key, last_key, merge_id, given_ms, who, why, released_ms, released_by, released_why
		FROM `+rangesTable+` ORDER BY number`)
	if err != nil {
		return nil, f.fault(err)
	}
	var all []KeyRange
	for i, row := range rows {
		if row.Number != int64(i+1) {
			return nil, f.fault(fmt.Errorf("range %d is missing in the table %s, and would be given again: restore it from a backup", i+1, rangesTable))
		}
		row.GivenAt, row.ReleasedAt = sqldb.UnixMilli(row.Given), sqldb.UnixMilli(row.Released)
		all = append(all, row.KeyRange)
	}
	return all, nil
}

// addRanges adds the ranges that choose returns of those that were given. Who adds the
// n-th has seen all before it, because the number is the primary key: if another caller
// was faster, choose is asked again.
func (f *Fleet) addRanges(ctx context.Context, note Note, choose func(have []KeyRange) ([]KeyRange, error)) error {
	if err := note.check(); err != nil {
		return err
	}
	return f.contend(ctx, "range", func() (int64, bool, error) {
		have, err := f.Ranges(ctx)
		if err != nil {
			return 0, false, err
		}
		next := len(have) + 1
		added, err := choose(have)
		if err != nil || len(added) == 0 {
			return 0, false, f.fault(err)
		}
		err = f.db.RetryTx(ctx, func(tx *sqldb.Tx) error {
			for i, r := range added {
				_, err := tx.Exec(ctx, f.db.Dialect().With(`
					INSERT INTO `+rangesTable+` (number, world, space, first_key, last_key, merge_id, given_ms, who, why)
					VALUES (?, ?, ?, ?, ?, ?, {now}, ?, ?)`), next+i, r.World, r.Space, r.First, r.Last, r.Merge, note.By, note.Why)
				if err != nil {
					return err
				}
			}
			return nil
		})
		return int64(next), errors.Is(err, sqldb.ErrDuplicate) || errors.Is(err, sqldb.ErrRetryable), f.fault(err)
	})
}

// ReleaseRange records that a world does not use its range any more. It stays on record, and
// its numbers are not given again: rows that left the world may still have them.
func (f *Fleet) ReleaseRange(ctx context.Context, number int64, note Note) error {
	if err := note.check(); err != nil {
		return err
	}
	all, err := f.Ranges(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(r KeyRange) bool { return r.Number == number })
	if i < 0 {
		return f.fault(fmt.Errorf("there is no range %d", number))
	}
	ok := false
	err = f.db.RetryTx(ctx, func(tx *sqldb.Tx) (err error) {
		ok, err = tx.Swap(ctx, f.db.Dialect().With("UPDATE "+rangesTable+" SET released_ms = {now}, released_by = ?, released_why = ? WHERE number = ? AND released_ms = 0"),
			note.By, note.Why, number)
		return err
	})
	if err == nil && !ok {
		err = fmt.Errorf("range %d was released before", number)
	}
	return f.fault(err)
}
