package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mergesafe/merge/rules"
)

// Keep says which of several rows with the same unique value keeps it.
type Keep string

// The ways to choose. If two rows are equal, they come in the order of their worlds.
const (
	KeepFirst  Keep = ""       // by that order
	KeepOlder  Keep = "older"  // the smallest value of By: when it was created
	KeepActive Keep = "active" // the largest value of By: when it was last used
)

// DefaultTemplate is the default of [NamePolicy.Template].
const DefaultTemplate = "{name}.s{server}"

// placeholders are what [NamePolicy.Template] may have in braces.
var placeholders = []string{"{name}", "{server}", "{source}"}

var inBraces = regexp.MustCompile(`\{[^{}]*\}?|\}`)

// TemplateProblem says what is wrong with a [NamePolicy.Template]; "" if nothing is.
func TemplateProblem(template string) string {
	for _, found := range inBraces.FindAllString(template, -1) {
		if !slices.Contains(placeholders, found) {
			return fmt.Sprintf("is %q: %s is not a placeholder; there are %s", template, found, strings.Join(placeholders, ", "))
		}
	}
	if strings.Count(template, "{name}") != 1 {
		return fmt.Sprintf("is %q: want {name} in it once, as in %q", template, DefaultTemplate)
	}
	return ""
}

// NamePolicy says how to change the values of a column that has to be unique in its
// table, if several databases have the same value.
type NamePolicy struct {
	Table, Column string

	// Keep says which row keeps its value, by the column By. The others are
	// renamed.
	Keep Keep
	By   string

	// Template makes the new value of {name}, {server} (the
	// server that made the row) and {source} (the name of its database in the
	// plan). {name} is cut if the whole would be too long. The default is
	// [DefaultTemplate]. If the value is taken, a number is added. Other text in braces is an
	// error.
	Template string

	// None are values that are not names, as in [rules.DeclaredUnique]: several rows may have
	// them, and keep them.
	None []string

	// Set are the values of other columns of a row whose name is changed, such as the
	// flag by which the game asks for another name.
	Set []rules.Setting

	// MaxLength is how many characters the column holds. The default is that of its
	// type; if the type has none, it must be given.
	MaxLength int

	// File and Line are where the policy is, for messages; none if it is in no file.
	File string
	Line int
}

// String names the policy in messages.
func (n *NamePolicy) String() string {
	if n.File == "" {
		return "names"
	}
	return fmt.Sprintf("%s:%d: [[merge.name]]", n.File, n.Line)
}

// NameCopy is a column that is renamed with a row that it names by its key.
type NameCopy = rules.NameCopy

// Renamed are the columns of policies, as a check takes them.
func Renamed(policies []NamePolicy) (all []rules.RenamedColumn) {
	for _, n := range policies {
		all = append(all, rules.RenamedColumn{Table: n.Table, Column: n.Column, First: n.Keep == KeepFirst, MaxLength: n.MaxLength, None: n.None, Set: n.Set, File: n.File, Line: n.Line})
	}
	return all
}

// KeylessName is a column of a table without a key whose values change with the name in the column By of their rows, in
// all rows or those that When covers.
type KeylessName struct {
	Table  string      `json:"table"`
	Column string      `json:"column"`
	By     string      `json:"by"`
	When   *rules.When `json:"when,omitempty"`
}

// MaxRenames is how many values of one column may be renamed: the database
// compares all of them in one statement.
const MaxRenames = 100_000
