package verdict

import (
	"cmp"
	"math"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// RekeyedCounter is a counter in a row of the first world, whose table otherwise comes
// unchanged, or a sequence.
type RekeyedCounter struct {
	Table  string      `json:"table"`
	Column string      `json:"column,omitempty"` // empty: Table is a sequence
	When   *rules.When `json:"when,omitempty"`
	Space  string      `json:"space"`
	Next   uint64      `json:"next"`           // it is raised to this, unless it is higher
	Most   uint64      `json:"most,omitempty"` // the largest number that it takes; 0: not known
}

// Next is where a counter of a space continues: above all numbers that this space has,
// whatever others have. It is a multiple of the space's step, so that people see which keys
// are new, unless that would take more than a hundredth of the numbers that are left: merges
// in a row must not use up a narrow space by rounding. most is where the counter ends, 0 if it
// does not; next may be one more. It is 0 if the space has no number above 0.
func (r *Rekeying) Next(space *RekeyedSpace, most uint64) uint64 {
	all := space.high()
	high := all.High.Bits
	if !all.Any || all.High.Negative || high == 0 {
		return 0
	}
	if high == math.MaxUint64 {
		return high
	}
	most = cmp.Or(Least(most, space.Most), math.MaxUint64)
	round := cmp.Or(space.Step, r.Step, 1)
	first, rounded := high+1, high/round*round+round
	if rounded > high && rounded <= most && rounded-first <= (most-first)/100 {
		return rounded
	}
	return first
}

// Least is the smaller of two ends, of which 0 is none.
func Least(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Rekeying describes the new keys of a merge's worlds. It is part of the plan of a merge.
type Rekeying struct {
	// The offsets that spaces have in common are multiples of Step, except those that the
	// operator chose.
	Step uint64 `json:"step"`

	Spaces  []RekeyedSpace  `json:"spaces"`  // in the order of their names
	Columns []RekeyedColumn `json:"columns"` // that get new values, by name

	Counters []RekeyedCounter `json:"counters,omitempty"`
}

// RekeyedSpace is one space.
type RekeyedSpace struct {
	Name string   `json:"space"`
	Keys []string `json:"keys,omitempty"` // columns; none for things without a table

	// Max is the largest key that clients take; 0: any. Most is the largest that they and the
	// columns take; 0: not known.
	Max  uint64 `json:"max,omitempty"`
	Most uint64 `json:"most,omitempty"`

	// Step is what its counters continue at a multiple of, if that takes few of the numbers
	// that are left: the operator's, or the [keys.DefaultStep] of the numbers that came.
	Step uint64 `json:"step,omitempty"`

	// Keep are the keys of rows that are the same in every world, and stay; see
	// [rules.Space.Keep].
	Keep string `json:"keep,omitempty"`

	// Own says that it has offsets of its own, because its columns are too narrow for
	// those of the other spaces.
	Own bool `json:"own_offsets,omitempty"`

	// By says which rows are the same thing in several worlds, and From is the plan of
	// another merge by which the space moves; nil: none.
	By   *rules.MatchedBy `json:"matched_by,omitempty"`
	From *MapFile         `json:"map,omitempty"`

	// Worlds are the space in each world, in their order. The keys of the first stay: its offset is 0.
	Worlds []SpaceOf `json:"worlds"`
}

// SpaceOf is a space in one world.
type SpaceOf struct {
	World  string `json:"world"`
	Offset uint64 `json:"offset"` // that is added; 0: the keys stay as they are

	Rows   int64      `json:"keys"`
	Keys   keys.Range `json:"range"`     // of the keys
	Values keys.Range `json:"values"`    // of all values that move: the keys, references to them, counters
	New    keys.Range `json:"new_range"` // of Values, once they have moved

	// Narrow is the column with the least room left after that.
	Narrow keys.Limit `json:"narrow,omitzero"`

	// Matched are the keys that become those of the same things in other worlds: no offset
	// is added to them.
	Matched *keys.Pairs `json:"matched,omitempty"`
}

// MapFile names the plan of another merge.
type MapFile struct {
	File   string `json:"file"`
	Digest string `json:"digest"` // SHA-256 of the file, in hexadecimal digits
	Space  string `json:"space"`  // as it is called there
}

// RekeyedColumn is a column whose values get new ones.
type RekeyedColumn struct {
	Table  string        `json:"table"`
	Column string        `json:"column"`
	Key    bool          `json:"key,omitempty"` // of a space
	Cases  []RekeyedCase `json:"cases"`         // of which a row is of one at most
}

// RekeyedCase are the rows of a column that refer to one space, or are keys of it.
type RekeyedCase struct {
	Space string      `json:"space"`
	None  []string    `json:"none,omitempty"` // values that stay as they are
	When  *rules.When `json:"when,omitempty"`

	// Format says where in a cell the keys are; "": the value is the whole cell. With it, a row
	// may be of several cases, and Counts are keys, and rows without any.
	Format string `json:"format,omitempty"`

	// Counts are the rows of each world, in their order.
	Counts []CaseCounts `json:"rows"`
}

// CaseCounts count the rows of one database by the row that their value names.
type CaseCounts struct {
	Resolved int64 `json:"resolved"` // a row of the space
	Dangling int64 `json:"dangling"` // no row, though it could: it names no row after the merge either
	None     int64 `json:"none"`     // no row, as declared, or NULL
}

// All are the rows of all databases together.
func (c *RekeyedCase) All() (all CaseCounts) {
	for _, n := range c.Counts {
		all.Add(n)
	}
	return all
}

func (c *CaseCounts) Add(n CaseCounts) {
	c.Resolved, c.Dangling, c.None = c.Resolved+n.Resolved, c.Dangling+n.Dangling, c.None+n.None
}

// Offset returns what is added to the keys of a space of a world.
func (r *Rekeying) Offset(space, world string) uint64 {
	return r.of(space, world).Offset
}

// of is a space in a world, and has nothing if there is none.
func (r *Rekeying) of(space, world string) (none SpaceOf) {
	if s := r.Space(space); s != nil {
		for _, of := range s.Worlds {
			if of.World == world {
				return of
			}
		}
	}
	return none
}

// Space returns the space of that name, or nil.
func (r *Rekeying) Space(name string) *RekeyedSpace {
	i := slices.IndexFunc(r.Spaces, func(s RekeyedSpace) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Spaces[i]
}

// Column returns a column of which values change; nil if they do not, and of a nil Rekeying.
func (r *Rekeying) Column(table, column string) *RekeyedColumn {
	for i := 0; r != nil && i < len(r.Columns); i++ {
		if c := &r.Columns[i]; c.Table == table && c.Column == column {
			return c
		}
	}
	return nil
}

// Moves reports whether any key gets a new value.
func (r *Rekeying) Moves() bool {
	return slices.ContainsFunc(r.Spaces, func(s RekeyedSpace) bool {
		return slices.ContainsFunc(s.Worlds, func(of SpaceOf) bool { return of.Offset > 0 || of.Matched.Len() > 0 })
	})
}

// Counter returns where the counter of a table continues after the merge: above those of the
// worlds whose rows come, of which the first is own, and above all keys of its space in any of
// them. last is the largest number that it gives; next may lie beyond, and then no number is left.
// Of a nil Rekeying no key gets a new value.
func (r *Rekeying) Counter(table string, own *catalog.AutoIncrement, others ...*catalog.AutoIncrement) (next, last uint64) {
	next, last = own.Next, own.Max
	for _, c := range others {
		next = max(next, c.Next)
	}
	if c := r.Column(table, own.Column); c != nil && c.Key {
		space := r.Space(c.Cases[0].Space)
		last = Least(last, space.Max)
		next = max(next, r.Next(space, last))
	}
	return next, last
}

// high are all numbers that a space has after the merge.
func (s *RekeyedSpace) high() (all keys.Range) {
	for _, of := range s.Worlds {
		all.Join(of.New)
	}
	return all
}

// Shift returns the change to the values of a case in a world.
func (r *Rekeying) Shift(c *RekeyedCase, world string) (*keys.Shift, error) {
	stay, err := keys.ParseValues(c.None)
	return &keys.Shift{By: r.Offset(c.Space, world), Stay: stay, Match: r.Matched(c.Space, world)}, err
}

// Matched returns the keys of a space of a world that become those of other rows.
func (r *Rekeying) Matched(space, world string) *keys.Pairs {
	return r.of(space, world).Matched
}
