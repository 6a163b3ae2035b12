package rules

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/naming"
)

// Policy says what a merge does with the rows of a table.
type Policy string

// The policies.
const (
	PolicyCopy Policy = "copy" // the rows of all worlds come
	PolicySame Policy = "same" // every world has the same rows, which is checked; they come once
	PolicySkip Policy = "skip" // the first world's rows come, those of the others stay behind

	// PolicyReset leaves the rows of all worlds behind: the table is empty in the new database.
	PolicyReset Policy = "reset"

	// PolicyCombine makes one row of those with one key in several databases, column by
	// column; see [Combined]. Rows with a key of their own are copied.
	PolicyCombine Policy = "combine"
)

// Policies returns all policies. The first is that of a table without one.
func Policies() []Policy {
	return []Policy{PolicyCopy, PolicySame, PolicySkip, PolicyReset, PolicyCombine}
}

// TablePolicy is the policy of tables, by patterns of their names, as in
// [Options.Allow]. An exact name has precedence over a pattern, and a later policy over
// an earlier one.
type TablePolicy struct {
	Tables []string `json:"tables"`
	Policy Policy   `json:"policy"`

	// Schema is that of the file: a pattern covers only its tables. nil: it covers all.
	Schema *Reviewed `json:"-"`

	// Columns are formulas by the name of the column, and When the rows that may be
	// combined, with [PolicyCombine]; see [Combined] and [ParseFormula].
	Columns map[string]string `json:"columns,omitempty"`
	When    *When             `json:"when,omitempty"`

	// Renumber is a column of which rows of the worlds get other values, with [PolicyCopy];
	// see [Renumber].
	Renumber string   `json:"renumber,omitempty"`
	Within   []string `json:"within,omitempty"`
	From     *int64   `json:"from,omitempty"`
	Max      *int64   `json:"max,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// TablePolicies returns the policies of tables, where one is declared.
func TablePolicies(opts Options, n Names) (map[string]TablePolicy, error) {
	found := make(map[string]TablePolicy)
	exact := make(map[string]bool)
	for i, p := range opts.Tables {
		what := fmt.Sprintf("table %d%s", i+1, in(p.File, p.Line))
		if !slices.Contains(Policies(), p.Policy) {
			return nil, Unsuitable("%s: the policy is %q: want one of %q", what, p.Policy, Policies())
		}
		if p.Policy != PolicyCombine && len(p.Columns) > 0 {
			return nil, Unsuitable("%s: set is used with the policy %q: want it with %q only", what, p.Policy, PolicyCombine)
		}
		if p.Policy != PolicyCombine && p.When != nil {
			return nil, Unsuitable("%s: when is used with the policy %q: want it with %q only; [[merge.leave]] says which rows of a table stay behind", what, p.Policy, PolicyCombine)
		}
		if err := p.When.Validate(); err != nil {
			return nil, Unsuitable("%s: %v", what, err)
		}
		switch {
		case p.Renumber != "" && (p.Policy != PolicyCopy || len(p.Within) == 0):
			return nil, Unsuitable("%s: renumber = %q: want within (the columns within which it is unique) and the policy %q", what, p.Renumber, PolicyCopy)
		case p.Renumber == "" && (len(p.Within) > 0 || p.From != nil || p.Max != nil):
			return nil, Unsuitable("%s: within, from and max are for renumber, which is missing", what)
		case p.From != nil && p.Max != nil && *p.From > *p.Max:
			return nil, Unsuitable("%s: renumber = %q: from is %d, and max is %d", what, p.Renumber, *p.From, *p.Max)
		}
		for _, text := range p.Tables {
			pattern, column, err := ParsePlace(text)
			if err == nil && column != nil {
				err = fmt.Errorf("%q is the name of a column: want the name of a table", text)
			}
			if err != nil {
				return nil, Unsuitable("%s: %v", what, err)
			}
			any := false
			for _, table := range slices.Sorted(maps.Keys(n)) {
				if !pattern.Match(table) {
					continue
				}
				if err := neverHolds(p.When, table, n); err != nil {
					return nil, Unsuitable("%s: %v", what, err)
				}
				any = true
				if named := pattern.Exact != ""; !named && !p.Schema.hasTable(table) {
					continue
				} else if named || !exact[table] {
					found[table], exact[table] = p, named
				}
			}
			if !any {
				return nil, Unsuitable("%s: no world has a table that matches %q%s", what, text, naming.Hint(text, slices.Sorted(maps.Keys(n))))
			}
		}
	}
	return found, nil
}

// setPolicies notes the policies of tables, and sets those apart that stay behind.
func setPolicies(f *Resolved) error {
	policies, err := TablePolicies(f.Opts, f.Names)
	if err != nil {
		return err
	}
	f.Same, f.Skip, f.Reset = make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for table, p := range policies {
		f.Same[table], f.Reset[table] = p.Policy == PolicySame, p.Policy == PolicyReset
		f.Skip[table] = p.Policy == PolicySkip || f.Reset[table]
	}
	for _, db := range f.DBs {
		for name, t := range db.Tables {
			if f.Skip[name] {
				db.Apart[name] = t
				delete(db.Tables, name)
			}
		}
	}
	f.Renumbers = renumbers(f, policies)
	f.Combined, err = combines(f, policies)
	return err
}
