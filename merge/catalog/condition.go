package catalog

import (
	"context"
	"strings"

	"mergesafe/merge/keys"
)

// Condition is a condition on a row: if it does not hold, the database refuses the row.
type Condition struct {
	Kind ConditionKind

	// Name is its name in the database: the name of a CHECK, the column of a type.
	// It may be empty.
	Name string

	// Text is the condition in the words of the database, made so that every other
	// database of the same engine can evaluate it on a table of that name. A row fails
	// it if it is false; NULL passes.
	Text string

	// Columns are the columns that it reads.
	Columns []string

	// Unclear says why it cannot be evaluated on the rows of another database; "" if
	// it can.
	Unclear string

	// Off says that the database does not enforce it.
	Off bool

	// Within says that a value of the same type may fail it too: an ENUM may
	// hold an invalid value, which no INSERT can write.
	Within bool
}

// String names the condition for people.
func (c *Condition) String() string {
	if c.Kind == ConditionCheck {
		return strings.TrimSpace("the constraint "+c.Name) + " CHECK (" + c.Text + ")"
	}
	return "the " + string(c.Kind) + " " + c.Name
}

// ConditionKind is the source of a [Condition].
type ConditionKind string

// The kinds of conditions.
const (
	ConditionCheck     ConditionKind = "check"     // a CHECK constraint
	ConditionIndex     ConditionKind = "index"     // an expression of an index can be computed
	ConditionMoment    ConditionKind = "moment"    // no date function of a CHECK or an index of SQLite takes the present time
	ConditionPartition ConditionKind = "partition" // some partition takes the row
	ConditionValue     ConditionKind = "value"     // a column's type has room for the value
	ConditionSize      ConditionKind = "size"      // the server takes each of the row's values at once
)

// Tester is an optional interface of a [Source]: it finds the rows for which the
// conditions of another database of the same engine do not hold. Its methods are
// called as those of Source are.
type Tester interface {
	// Takes returns the conditions that a value must meet so that a column of this
	// database accepts it, whatever the column of another database is, as far as they
	// are known.
	Takes(ctx context.Context, table, column string) ([]Condition, error)

	// TestBeside has the next Scan of all rows of a table in the order of its key test them against conditions
	// too, if it can, so that Failing knows the answers without reading the rows again.
	TestBeside(table string, conditions []Condition)

	// Failing answers for each of the conditions, in their order: how many rows of
	// the table fail it, and the first of these in the order of the key, at most
	// samples. If conditions can be evaluated together, it reads the table once. shifts
	// change the integers of columns before they are tested.
	Failing(ctx context.Context, table string, conditions []Condition, shifts map[string]*keys.Shift, samples int) ([]Failing, error)
}

// Failing are the rows of a table that fail a [Condition].
type Failing struct {
	Rows    int64
	Samples [][]Field // as text for people

	// Unclear says why the database cannot evaluate the condition on some row; "" if it did on all. Rows are then those that
	// surely fail.
	Unclear string
}
