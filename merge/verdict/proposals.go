package verdict

import (
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/rules"
)

// Proposal is a declaration that names, types and data suggest and the schema lacks:
// configuration for the operator to judge and to paste. One of Unique and Reference is
// set.
type Proposal struct {
	Unique    *rules.DeclaredUnique    `json:"unique,omitempty"`
	Reference *rules.DeclaredReference `json:"reference,omitempty"`

	// Evidence is the reason: "distinct in every database: 12,345 of 12,345".
	Evidence string `json:"evidence"`

	// Conflicts is how many values of a unique occur more than once, in all worlds
	// together.
	Conflicts int64 `json:"conflicts,omitempty"`
}

// ColumnClass is what a column seems to be.
type ColumnClass string

// The classes of columns.
const (
	ClassKey       ColumnClass = "key"       // a key that the world counts
	ClassShared    ColumnClass = "shared"    // part of a key, of the game's own data
	ClassReference ColumnClass = "reference" // names rows
	ClassPlain     ColumnClass = "plain"     // names nothing
	ClassOpaque    ColumnClass = "opaque"    // its contents were not read
	ClassUndecided ColumnClass = "undecided" // a person must say
	ClassEmpty     ColumnClass = "empty"     // it has no values to judge by
)

// Proposed is what the columns of all tables seem to be.
type Proposed struct {
	// Gaps says how much the gaps in the keys could prove.
	Gaps string `json:"gaps"`

	// NoGaps are the keys of which no number between the ends is missing, so that values prove nothing of what names them.
	NoGaps []string `json:"no_gaps,omitempty"`

	// Rekey says that databases count keys, which rekey = true in [merge] gives new values.
	Rekey bool `json:"rekey,omitempty"`

	// Columns are all columns, the most doubtful first. One that names several tables
	// is listed several times.
	Columns []ProposedColumn `json:"columns"`

	// Spaces are the keys that other columns may name, with their gaps: for people.
	Spaces []string `json:"spaces,omitempty"`

	// Keys are the integers among these that the database does not generate: declare
	// them for a merge that gives keys new values.
	Keys []string `json:"keys,omitempty"`

	// Worlds are keys that carry their server, as numbers.Keys of package
	// store/numbers makes them. No merge has to give them new values.
	Worlds []rules.WorldKey `json:"worlds,omitempty"`
}

// ProposedColumn is what a column seems to be.
type ProposedColumn struct {
	Table  string      `json:"table"`
	Column string      `json:"column"`
	Class  ColumnClass `json:"class"`

	// To is the key that a reference names, or that an undecided column may name, as
	// declarations write it; When limits it to some rows, and None are the values that
	// name nothing.
	To   string      `json:"to,omitempty"`
	When *rules.When `json:"when,omitempty"`
	None []string    `json:"none,omitempty"`

	// Candidates are the keys that the column may name, the likeliest first.
	Candidates []Candidate `json:"candidates,omitempty"`

	// Own says that an undecided column may be a key of its own, and not a reference to the
	// rows that To names.
	Own bool `json:"own_key,omitempty"`

	// InTexts says that the keys are numbers inside its texts, so that a reference needs a format.
	InTexts bool `json:"in_texts,omitempty"`

	// Counts are the keys that an undecided column may count, as a counter kept in a row.
	Counts []string `json:"counts,omitempty"`

	// Kinds says how another column tells apart what it names, if its rows seem to name different things; nil: they do not.
	Kinds *Kinds `json:"kinds,omitempty"`

	// Reason is what Evidence says without figures: the same for columns that are judged alike.
	Reason string `json:"-"`

	// Evidence is the reason. Doubt is from 0 to 1.
	Evidence string  `json:"evidence"`
	Doubt    float64 `json:"doubt"`

	// Declared says that a foreign key or the configuration declares it already.
	Declared bool `json:"declared,omitempty"`
}

// Candidate is a key that a column may name, and what speaks for it.
type Candidate struct {
	Key       string `json:"key"`             // "characters.guid"
	Rows      int64  `json:"rows"`            // with a value that may name something
	Matched   int64  `json:"matched"`         // of these, with a row of their own database
	Elsewhere int64  `json:"elsewhere"`       // without a match, but with a row of another database
	About     bool   `json:"about,omitempty"` // the figures are of a sample

	Gaps  string `json:"gaps"`  // what the gaps in the keys say: "avoided", "hit" or "silent"
	Name  string `json:"name"`  // what the names say: "clear", "perhaps" or "no"
	Types string `json:"types"` // of the column and of the key
}

// Misses are the rows without a match.
func (c Candidate) Misses() int64 { return c.Rows - c.Matched }

// Kinds are the rows of a column by the value of another column, By: those where it has one of Is name a key, and those
// where it has one of Other seem to name something else.
type Kinds struct {
	By     string   `json:"by"`
	Is     []string `json:"is"`
	Other  []string `json:"other"`
	Groups []Kind   `json:"groups"` // the largest first
}

// Kind counts the rows with one value of [Kinds.By] that name something.
type Kind struct {
	Value     string `json:"value"` // as the database prints it
	Null      bool   `json:"null,omitempty"`
	Rows      int64  `json:"rows"`
	Own       int64  `json:"own"`       // with a key of their own database
	Elsewhere int64  `json:"elsewhere"` // with a key of another database only

	// Names is the key of another table that these rows clearly name; "": none. Keys are those of other tables that their
	// values are, the most hits first.
	Names string    `json:"names,omitempty"`
	Keys  []KeyHits `json:"keys,omitempty"`
}

// KeyHits is how many values of some rows are keys of a table in their own database, of those that were looked at.
type KeyHits struct {
	Key    string `json:"key"`
	Hits   int64  `json:"hits"`
	Values int64  `json:"values"`
}

// References are the references of a column to some key that its rows by [Kinds.By] make: that of [Kinds.Is], and one for each key
// that other rows clearly name. rest are the values of the rows that are left.
func (k *Kinds) References(r rules.DeclaredReference) (all []rules.DeclaredReference, rest []string) {
	all = append(all, r)
	for _, g := range k.Groups {
		if !slices.Contains(k.Other, g.Value) {
			continue
		}
		i := slices.IndexFunc(all[1:], func(r rules.DeclaredReference) bool { return r.To[0] == g.Names }) + 1
		switch {
		case g.Names == "" || g.Null:
			rest = append(rest, g.Value)
		case i == 0:
			all = append(all, rules.DeclaredReference{To: []string{g.Names}, At: r.At, When: &rules.When{Column: k.By, Is: []string{g.Value}}})
		default:
			all[i].When.Is = append(all[i].When.Is, g.Value)
		}
	}
	for _, other := range all[1:] {
		slices.Sort(other.When.Is)
	}
	slices.Sort(rest)
	return all, rest
}

// TOML writes the proposal as text for config.toml, below its evidence as a comment. It
// ends in a newline.
func (p Proposal) TOML() string {
	var b strings.Builder
	b.WriteString("# " + printable.Text(p.Evidence) + "\n")
	if p.Conflicts > 0 {
		b.WriteString("# but " + printable.Count(p.Conflicts, "is", "are") + " in more than one database\n")
	}
	switch {
	case p.Unique != nil:
		b.WriteString("[[check.unique]]\nat = " + printable.TOMLList(rules.Qualified(p.Unique.Table, p.Unique.Columns)) + "\n")
	case p.Reference != nil:
		b.WriteString(ReferenceTOML(*p.Reference))
	}
	return b.String()
}

// ReferenceTOML writes a reference as it is to stand in a file of rules.
func ReferenceTOML(r rules.DeclaredReference) string {
	var b strings.Builder
	b.WriteString("[[check.reference]]\n")
	if len(r.To) == 1 {
		b.WriteString("to = " + printable.TOML(r.To[0]) + "\n")
	} else {
		b.WriteString("to = " + printable.TOMLList(r.To) + "\n")
	}
	b.WriteString("at = " + printable.TOMLList(r.At) + "\n")
	if len(r.None) > 0 {
		b.WriteString("none = " + TomlValues(r.None) + "\n")
	}
	if r.When != nil {
		b.WriteString(whenTOML(r.When) + "\n")
	}
	return b.String()
}

// ReferenceLine writes a reference in one line, for advice.
func ReferenceLine(r rules.DeclaredReference) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(ReferenceTOML(r)), "\n")
	return head + " " + strings.ReplaceAll(rest, "\n", ", ")
}

// whenTOML writes a condition as the rules have it.
func whenTOML(w *rules.When) string {
	values := ", is = " + TomlValues(w.Is)
	if len(w.Is) == 0 {
		values = ", not = " + TomlValues(w.Not)
	}
	return "when = { column = " + printable.TOML(w.Column) + values + " }"
}

// TomlValues writes values, those that are whole numbers without quotes.
func TomlValues(values []string) string {
	return "[" + strings.Join(slice.Map(values, func(v string) string {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && strconv.FormatInt(n, 10) == v {
			return v
		}
		return printable.TOML(v)
	}), ", ") + "]"
}
