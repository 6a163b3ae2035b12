package merge

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"mergesafe/internal/nearest"
)

// The defaults of [Options].
const (
	DefaultSamples = 3

	// DefaultSlack is more than what a healthy game server needs: the clock
	// disagreement at which it refuses to start, and the reservation by which
	// its IDs may run ahead.
	DefaultSlack = 10 * time.Minute
)

// ErrOptions tells that [Options] ask for something that cannot be: they name
// a table, a column or a code that there is not, or a value out of range.
var ErrOptions = errors.New("unsuitable options")

// Options are what may be chosen about a check. The zero value means the
// defaults.
type Options struct {
	// Target names the source that the others would be merged into. Its
	// schema and its collations count. The default is the first.
	Target string

	// Samples is how many conflicts a result shows: 0 is [DefaultSamples], a
	// negative number none. Counts are exact whatever it is.
	Samples int

	// Slack is how much later than the clock an ID may be before it counts as
	// from the future: 0 is [DefaultSlack].
	Slack time.Duration

	// Now is the time to compare IDs with. The default is the clock of the
	// database that holds them.
	Now time.Time

	// Include and Exclude are patterns of table names, as [path.Match] takes
	// them. Looked at are the tables that match one of Include, or all if it is
	// empty, and none of Exclude. The others are reported as
	// [CodeTableSkipped]: nobody has looked at them. A pattern that no table
	// matches is an error.
	Include, Exclude []string

	// Uniques and References are what the game relies on and the schema does
	// not declare. IDs are columns that hold gameid IDs though their type does
	// not tell. Accounts are columns that hold a player's account. A name that
	// no source has is an error; one of a table that is left out means nothing.
	Uniques    []DeclaredUnique
	References []DeclaredReference
	IDs        []IDColumn
	Accounts   []AccountColumn

	// Allow names codes whose results do not spoil the verdict: they count as
	// PASS, and say so. FailOn names codes of which NOT VERIFIED counts as
	// FAIL.
	Allow, FailOn []string

	// Only, if not empty, limits the check to these results. The verdict is
	// then about them alone.
	Only []Selection

	// Propose makes the check look for uniques and references that are worth
	// declaring, which takes more reading; see [Report.Proposals].
	Propose bool

	// Quick, if not nil, is called with what takes only seconds to find out:
	// servers, schemas, numbers of rows, ranges of keys. That report is
	// incomplete and has no verdict. It is called before the keys are read, by
	// the goroutine that called [Check].
	Quick func(*Report)

	// Progress, if not nil, is called after every batch that was read, by the
	// goroutine that called [Check]. It never changes the result.
	Progress func(Progress)

	// Clock stamps the start and the end of the report. The default is
	// [time.Now].
	Clock func() time.Time
}

// DeclaredUnique are columns whose values the game wants to be unique though
// no index says so: the names of characters, say. Rows with a NULL in one of
// them take no part.
type DeclaredUnique struct {
	Table   string   `json:"table" toml:"table"`
	Columns []string `json:"columns" toml:"columns"`
	Name    string   `json:"name,omitempty" toml:"name,omitempty"` // what people call it: "character name"
}

// DeclaredReference are columns whose values must stand in other columns
// though no foreign key says so.
type DeclaredReference struct {
	Table     string   `json:"table" toml:"table"`
	Columns   []string `json:"columns" toml:"columns"`
	ToTable   string   `json:"to_table" toml:"to_table"`
	ToColumns []string `json:"to_columns" toml:"to_columns"`

	// ZeroIsNone tells that 0, or an empty text, refers to nothing, as NULL
	// does. It needs a reference of one column.
	ZeroIsNone bool `json:"zero_is_none,omitempty" toml:"zero_is_none,omitempty"`
}

// IDColumn is a column that holds gameid IDs: 10 bytes, or 20 hexadecimal
// digits as text.
type IDColumn struct {
	Table  string `json:"table" toml:"table"`
	Column string `json:"column" toml:"column"`
}

// AccountColumn is a column that tells whose a row of characters is. Accounts
// that have characters in several sources are found.
type AccountColumn struct {
	Table  string `json:"table" toml:"table"`
	Column string `json:"column" toml:"column"`
	Max    int    `json:"max" toml:"max"` // characters that one account may have; 0: any number
}

// Selection names results of a report: those with its code, and with its table
// and subject unless these are empty.
type Selection struct {
	Code    string `json:"code"`
	Table   string `json:"table,omitempty"`
	Subject string `json:"subject,omitempty"`
}

func (o Options) withDefaults() Options {
	if o.Samples == 0 {
		o.Samples = DefaultSamples
	}
	if o.Slack == 0 {
		o.Slack = DefaultSlack
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// validate looks at what can be judged without a database.
func (o Options) validate() error {
	var codes []string
	for _, c := range Codes() {
		codes = append(codes, c.Code)
	}
	known := func(option, code string) error {
		if slices.Contains(codes, code) {
			return nil
		}
		return unsuitable("%s: no rule has the code %q%s", option, code, nearest.Hint(code, codes))
	}
	for _, code := range o.Allow {
		if err := known("allow", code); err != nil {
			return err
		}
		if slices.Contains(o.FailOn, code) {
			return unsuitable("%s is both to be allowed and to fail", code)
		}
	}
	for _, code := range o.FailOn {
		if err := known("fail on", code); err != nil {
			return err
		}
	}
	for _, s := range o.Only {
		if err := known("only", s.Code); err != nil {
			return err
		}
	}
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return unsuitable("the pattern %q is malformed", pattern)
		}
	}
	return nil
}

func unsuitable(format string, args ...any) error {
	return fmt.Errorf("merge: %w: %s", ErrOptions, fmt.Sprintf(format, args...))
}

// names are the tables and columns that the sources have, to look up what was
// declared.
type names map[string]map[string]*Column // by table, by column: one of them

func namesOf(dbs []*database) names {
	n := make(names)
	for _, db := range dbs {
		for _, t := range db.tables {
			if n[t.Name] == nil {
				n[t.Name] = make(map[string]*Column)
			}
			for i := range t.Columns {
				n[t.Name][t.Columns[i].Name] = &t.Columns[i]
			}
		}
	}
	return n
}

// has returns an error if no source has one of the columns. what is what was
// declared: `unique 2`.
func (n names) has(what, table string, columns ...string) error {
	found := n[table]
	if found == nil {
		return unsuitable("%s: no source has a table %q%s", what, table, nearest.Hint(table, slices.Sorted(maps.Keys(n))))
	}
	if len(columns) == 0 {
		return unsuitable("%s: it names no column of %q", what, table)
	}
	for i, c := range columns {
		if found[c] == nil {
			return unsuitable("%s: table %q has no column %q%s", what, table, c, nearest.Hint(c, slices.Sorted(maps.Keys(found))))
		}
		if slices.Contains(columns[:i], c) {
			return unsuitable("%s: it names column %q twice", what, c)
		}
	}
	return nil
}

// resolve makes sure that what is declared can be found, and gives it to the
// tables.
func (c *checker) resolve() error {
	n := namesOf(c.dbs)
	for i, u := range c.opts.Uniques {
		if err := n.has(fmt.Sprintf("unique %d", i+1), u.Table, u.Columns...); err != nil {
			return err
		}
	}
	for i, r := range c.opts.References {
		what := fmt.Sprintf("reference %d", i+1)
		if err := n.has(what, r.Table, r.Columns...); err != nil {
			return err
		}
		if err := n.has(what, r.ToTable, r.ToColumns...); err != nil {
			return err
		}
		switch {
		case len(r.Columns) != len(r.ToColumns):
			return unsuitable("%s: it pairs %d columns with %d", what, len(r.Columns), len(r.ToColumns))
		case r.ZeroIsNone && len(r.Columns) != 1:
			return unsuitable("%s: zero_is_none needs a reference of one column, this one has %d", what, len(r.Columns))
		}
	}
	for i, a := range c.opts.Accounts {
		what := fmt.Sprintf("account %d", i+1)
		if err := n.has(what, a.Table, a.Column); err != nil {
			return err
		}
		if a.Max < 0 {
			return unsuitable("%s: max is %d, want 0 or more", what, a.Max)
		}
	}
	for i, id := range c.opts.IDs {
		what := fmt.Sprintf("id %d", i+1)
		if err := n.has(what, id.Table, id.Column); err != nil {
			return err
		}
		for _, db := range c.dbs {
			if err := db.declareID(id); err != nil {
				return unsuitable("%s: %v", what, err)
			}
		}
	}
	return nil
}

// declareID notes that a column holds IDs.
func (db *database) declareID(id IDColumn) error {
	t := db.tables[id.Table]
	if t == nil || t.column(id.Column) == nil {
		return nil
	}
	switch col := t.column(id.Column); col.Kind {
	case KindBytes, KindText, KindOther:
	default:
		return fmt.Errorf("column %s of %s is %s in %s: an ID is 10 bytes or 20 digits of text", id.Column, id.Table, col.Type, db.name)
	}
	// The catalogue belongs to the source.
	clone := *t
	clone.Columns = slices.Clone(t.Columns)
	col := clone.column(id.Column)
	col.IsID, col.Opaque = true, ""
	db.tables[id.Table] = &clone
	return nil
}

// exclude takes out the tables that the operator does not want to be looked
// at.
func (c *checker) exclude() error {
	if len(c.opts.Include) == 0 && len(c.opts.Exclude) == 0 {
		return nil
	}
	var all []string
	for _, db := range c.dbs {
		for name := range db.tables {
			all = append(all, name)
		}
		for _, s := range db.skipped {
			all = append(all, s.Table)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	matches := func(patterns []string, table string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, table); return ok })
	}
	for _, p := range slices.Concat(c.opts.Include, c.opts.Exclude) {
		if !slices.ContainsFunc(all, func(table string) bool { return matches([]string{p}, table) }) {
			return unsuitable("no source has a table that matches %q%s", p, nearest.Hint(p, all))
		}
	}
	for _, db := range c.dbs {
		out := func(table string) bool {
			return len(c.opts.Include) > 0 && !matches(c.opts.Include, table) || matches(c.opts.Exclude, table)
		}
		for name := range db.tables {
			if out(name) {
				delete(db.tables, name)
				db.excluded = append(db.excluded, name)
			}
		}
		// The operator's word comes before the reason that the source has.
		db.skipped = slices.DeleteFunc(slices.Clone(db.skipped), func(s Skipped) bool {
			if out(s.Table) {
				db.excluded = append(db.excluded, s.Table)
			}
			return out(s.Table)
		})
		slices.Sort(db.excluded)
		for _, name := range db.excluded {
			db.skipped = append(db.skipped, Skipped{Table: name, Reason: excludedReason})
		}
	}
	return nil
}

const excludedReason = "excluded by the operator"

// wants reports whether a result is to be part of the report. An empty subject
// stands for all of a table's.
func (c *checker) wants(code, table, subject string) bool {
	if len(c.opts.Only) == 0 {
		return true
	}
	return slices.ContainsFunc(c.opts.Only, func(s Selection) bool { return s.matches(code, table, subject) })
}

// wantsAny is wants for several codes.
func (c *checker) wantsAny(table, subject string, codes ...string) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return c.wants(code, table, subject) })
}

// matches reports whether s may name a result. What is alike in a schema is
// one result without a subject, so that one answers to any.
func (s Selection) matches(code, table, subject string) bool {
	return s.Code == code && (s.Table == "" || s.Table == table) && (s.Subject == "" || subject == "" || s.Subject == subject)
}
