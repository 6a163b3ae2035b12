package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// PlanVersion is the version of the JSON form of [Plan].
const PlanVersion = 1

// Plan describes a merge: the rows to copy of each table, the renames, and the refusals
// that block it. People read it before it is carried out. It has no DSN. The same
// databases give the same plan, except for Made.
type Plan struct {
	Version int `json:"version"`

	// ID is a fingerprint of everything below. A plan that was changed by hand is not
	// carried out: change the options and plan again.
	ID   string    `json:"id"`
	Made time.Time `json:"made"`

	// Program made the plan, with its version. The caller sets it; it is not part of ID.
	Program string `json:"program,omitempty"`

	// Typed are the words of the command that made the plan, without its databases and files,
	// for people who make it again. The caller sets it; it is not part of ID.
	Typed []string `json:"typed,omitempty"`

	// Refusals are the reasons that block the merge; none if the plan can be carried out.
	Refusals []Refusal `json:"refusals"`

	// Check is the result of package merge.
	Check Checked `json:"check"`

	Engine string `json:"engine"` // of all databases: "sqlite", "mariadb" or "mysql"
	New    New    `json:"new"`    // the database that the merge makes

	// Worlds are the databases that are merged. The first one keeps its keys and names, and gives the schema, the
	// registry and the counters.
	Worlds  []World  `json:"worlds"`
	Tables  []Table  `json:"tables"`           // of the new database, in the order in which copying begins: a table comes after those that it references
	Left    []Left   `json:"left_out"`         // tables of which rows are not copied
	Resets  []string `json:"resets,omitempty"` // tables that are empty in the new database
	Renames []Rename `json:"renames"`

	// Names is how many of Renames are new names. The others are numbers of Renumbered, and cells that follow:
	// references to such a name, and columns that are set with it.
	Names int `json:"names,omitempty"`

	// Rekey are the new values of keys that may collide; nil if there are no spaces.
	Rekey *verdict.Rekeying `json:"rekey,omitempty"`

	// Alike are the rows that are the same in every database, and stay.
	Alike []Alike `json:"alike,omitempty"`

	// Severed says what happens to rows that reference rows that stay behind.
	Severed []rules.Severed `json:"severed,omitempty"`

	// Leaving is what stays behind by statements of the operator; nil if there is none.
	Leaving *Leaving `json:"leaving,omitempty"`

	// Renumbered are columns of which rows of the sources get other values, each of which is
	// among Renames.
	Renumbered []verdict.Renumbered `json:"renumbered,omitempty"`

	// Counters are the values of the first world in which the game counts keys.
	Counters []RowCounter `json:"counters,omitempty"`

	// Copies are columns that are renamed along.
	Copies []NameCopy `json:"copies,omitempty"`

	// Keyless are columns of tables without a key that have names, or change with one. Their Renames are by the old name.
	Keyless []KeylessName `json:"keyless,omitempty"`

	// Lacks are the rights to write that the account of the plan does not have, by
	// database, as far as the server shows them: "s1: INSERT on players". Apply needs
	// them. They are not part of ID.
	Lacks []string `json:"lacks,omitempty"`
}

// Refusal is one reason that blocks a merge.
type Refusal struct {
	Source string `json:"source,omitempty"` // empty: not about one database
	Table  string `json:"table,omitempty"`  // empty: not about one table
	Code   string `json:"code,omitempty"`   // of the rule of the check that found it
	Reason string `json:"reason"`

	Next Next `json:"next,omitempty"`

	// Place is the kind of a reason that no rule of the check knows; "" for those that have one.
	Place Place `json:"place,omitempty"`
}

func (r Refusal) String() string {
	s := r.Reason
	if r.Code != "" {
		s = r.Code + ": " + s
	}
	if r.Table != "" {
		s = fmt.Sprintf("table %q: %s", r.Table, s)
	}
	if r.Source != "" {
		s = fmt.Sprintf("database %q: %s", r.Source, s)
	}
	if advice := r.Next.advice(); advice != "" {
		s += ": " + advice
	}
	return s
}

// Blocks are the refusals that keep the plan from being carried out; a rehearsal does not mind what runs.
func (p *Plan) Blocks(try bool) (all []Refusal) {
	for _, r := range p.Refusals {
		if !try || r.Place != PlaceRunning {
			r.Next = NextPlan
			all = append(all, r)
		}
	}
	return all
}

// Checked is the verdict of the check that a plan rests on.
type Checked struct {
	Verdict verdict.Verdict `json:"verdict"`

	// Resolved are the conflicts that renaming and combining resolve, Allowed those that the
	// operator allowed.
	Resolved []Refusal `json:"resolved,omitempty"`
	Allowed  []Refusal `json:"allowed,omitempty"`

	// Plain is how many columns that are declared plain or shared hold values which are keys.
	Plain int `json:"plain,omitempty"`
	// PlainOpen are these columns, as table.column: those first that look most like references.
	PlainOpen []string `json:"plain_columns,omitempty"`

	// RuleFiles compare the databases with the schemas that files of rules were written
	// for.
	RuleFiles []rules.RuleFile `json:"rule_files,omitempty"`

	// Rules are the operator's declarations of columns.
	Rules []rules.Declarations `json:"rules,omitempty"`
}

// World is one of the databases of a plan, as it was found.
type World struct {
	Name string `json:"name"`

	// Schema is the fingerprint of its tables, and Tables, packed, how they were made.
	Schema string `json:"schema"`
	Tables string `json:"tables"`

	// Servers are those of its registry; none if it keeps no registry.
	Servers []catalog.Server `json:"servers,omitempty"`

	// Given are its counters.
	Given []Given `json:"given,omitempty"`

	// Fence says that its own servers will be kept from being started: see
	// [store.Registry.Fence].
	Fence bool `json:"fence,omitempty"`
}

// Restore is what to do about a world, or a part of it, that is gone.
const Restore = ": restore it, or correct its DSN"

// Another says in which way a database is another world than the planned one, by the identities of its servers; "" if
// it is not. A world without a registry is known by its schema: see [Plan.Altered].
func (w *World) Another(now []catalog.Server) string {
	if len(now) == 0 && len(w.Servers) > 0 {
		return "its registry lists no server any more" + Restore
	}
	for _, s := range w.Servers {
		same := func(n catalog.Server) bool { return n.Server == s.Server && n.World == s.World && n.Own == s.Own }
		if !slices.ContainsFunc(now, same) {
			return fmt.Sprintf("it is not the planned world: its registry does not list server %s of world %s: check which database its DSN leads to", s.Server, s.World)
		}
	}
	return ""
}

// Table is one table of a plan.
type Table struct {
	Name      string   `json:"table"`
	Key       []string `json:"key"`                 // empty: the rows are a multiset
	Columns   []string `json:"columns"`             // those that are copied
	Generated []string `json:"generated,omitempty"` // those that the new database generates itself

	// Worlds are the rows that come of each world, in the order of the plan.
	Worlds []world.Content `json:"worlds"`

	// Only says that the rows of the first world alone come: Plan.Left says why.
	Only bool `json:"only,omitempty"`

	// None says of a table with Only that no other world had a row to come when the plan was made: a row that came since is
	// one that would be lost.
	None bool `json:"none,omitempty"`

	// Combine says how rows with the same key become one; nil if all rows are copied.
	Combine *Combine `json:"combine,omitempty"`

	// Counter is the counter of the table; nil if it has none.
	Counter *Counter `json:"counter,omitempty"`
}

// Rows is how many rows will be copied.
func (t *Table) Rows() int64 {
	return world.Total(t.Worlds, func(c *world.Content) int64 { return c.Rows })
}

// Merged is how many rows the table should have after the merge.
func (t *Table) Merged() int64 {
	if t.Combine != nil {
		return t.Combine.Rows
	}
	return t.Rows()
}

// Apart is what was read of a table of a database: of a world also the sum of what its rows become, and of a table with
// keys that move its groups; see [mapping.Origins].
type Apart struct {
	world.Content
	After  world.Sum
	Groups []world.Content
}

// Counter is an AUTO_INCREMENT.
type Counter struct {
	Column string `json:"column"`
	Before uint64 `json:"before"` // the next value in the first world
	After  uint64 `json:"after"`  // the same in the new database, at least
}

// Left is a table of which rows are not copied: those of all worlds but the first, or of the database that
// Reason names.
type Left struct {
	Table  string `json:"table"`
	Reason string `json:"reason"`
}

// Rename is one value that is changed: a name, or a reference to it by name.
type Rename struct {
	Source string `json:"source"` // the world of the row
	World  string `json:"world,omitempty"`
	Table  string `json:"table"`
	Column string `json:"column"`
	Key    string `json:"key"` // of the row; see [world.KeyText]
	Old    string `json:"old"`
	New    string `json:"new"`
}

// Rows is how many rows will be copied.
func (p *Plan) Rows() int64 { return world.Total(p.Tables, (*Table).Rows) }

// Renamed divides the renames: new names, each of a person or a thing; numbers, such as slots, that become the next
// free one; and cells that follow a new name.
func (p *Plan) Renamed() (names, numbers, cells int64) {
	for _, n := range p.Renumbered {
		for _, rows := range n.Counts {
			numbers += rows
		}
	}
	names = int64(p.Names)
	return names, numbers, int64(len(p.Renames)) - numbers - names
}

// Estimate is how long copying will take at a number of rows a second; 0 means
// 50,000, which a small machine does with durable commits.
func (p *Plan) Estimate(perSecond int64) time.Duration {
	if perSecond <= 0 {
		perSecond = 50_000
	}
	return time.Duration(float64(p.Rows()) / float64(perSecond) * float64(time.Second))
}

// Write writes the plan as indented JSON.
func (p *Plan) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// ReadPlan reads what [Plan.Write] wrote, or servermerge plan -json: that has the words about it as well. A plan of another version, or one
// that was changed since, is an error.
func ReadPlan(r io.Reader) (*Plan, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var its struct{ Version int }
	if json.Unmarshal(text, &its) == nil && its.Version != PlanVersion { // it may have other fields
		return nil, anotherVersion(its.Version)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var read struct {
		Plan
		View json.RawMessage `json:"view"`
	}
	if err := d.Decode(&read); err != nil {
		return nil, fmt.Errorf("merge: not a plan: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("merge: not a plan: there is more text after its end")
	}
	return &read.Plan, read.Validate()
}

func anotherVersion(version int) error {
	return fmt.Errorf("merge: the plan has version %d and this program knows version %d: plan again, or use the program that made it", version, PlanVersion)
}

func (p *Plan) Validate() error {
	if p.Version != PlanVersion {
		return anotherVersion(p.Version)
	}
	if p.ID != p.Fingerprint() {
		return fmt.Errorf("merge: the plan %.40q was changed after it was made: change the options and plan again", p.ID)
	}
	if len(p.Worlds) == 0 {
		return errors.New("merge: the plan contradicts itself: it has no world")
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		if len(t.Worlds) != len(p.Worlds) || slices.ContainsFunc(t.Key, func(k string) bool { return !slices.Contains(t.Columns, k) }) {
			return fmt.Errorf("merge: the plan contradicts itself in table %q", t.Name)
		}
		for j := range t.Worlds {
			if err := t.Worlds[j].ValidateRanges(t.Key); err != nil {
				return fmt.Errorf("merge: the plan contradicts itself in table %q of %q: %w", t.Name, p.Worlds[j].Name, err)
			}
		}
	}
	for _, validate := range []func() error{p.validateSevered, p.validateLeaving, p.validateCombines, p.validateNew, p.validateRekeying} {
		if err := validate(); err != nil {
			return err
		}
	}
	return nil
}

// Fingerprint makes the ID.
func (p *Plan) Fingerprint() string {
	q := *p
	q.ID, q.Made, q.Program, q.Typed, q.Lacks, q.New.Place = "", time.Time{}, "", nil, nil, sqldb.Place{}
	// One list without an entry is as good as another.
	q.Worlds, q.Tables, q.Left, q.Renames = world.OrNil(q.Worlds), world.OrNil(q.Tables), world.OrNil(q.Left), world.OrNil(q.Renames)
	return world.Fingerprint(&q)
}

// World returns the number of the world of that name, or -1.
func (p *Plan) World(name string) int {
	return slices.IndexFunc(p.Worlds, func(w World) bool { return w.Name == name })
}

// Table returns the table of that name, or nil.
func (p *Plan) Table(name string) *Table {
	return world.First(p.Tables, func(t *Table) bool { return t.Name == name })
}
