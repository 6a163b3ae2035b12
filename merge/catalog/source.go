package catalog

import (
	"context"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge/keys"
)

// Sifted are rows that are told by their values, which is faster than by a condition on every row.
type Sifted interface {
	Withheld

	// Sift returns columns, and what reports of a row whether it is one of these, by the values of the columns as a
	// driver delivers them. Without columns the rows are told by SQL only.
	Sift() (columns []string, is func(value func(i int) any) bool)
}

// Withheld are rows of a table that a merge leaves out.
type Withheld interface {
	Of() string // the table

	// SQL is the condition for them, as all engines understand it. It is never NULL.
	// quote writes the name of a column.
	SQL(quote func(string) string) string
}

// integerBits are the sizes of integers in MySQL and MariaDB.
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}

// Sequence is a counter outside of the tables: CREATE SEQUENCE of MariaDB.
type Sequence struct {
	Name      string
	Next      keys.Integer // that it has certainly not given out
	Max       keys.Integer // the largest that it gives out
	Increment int64
	Cycle     bool // after the largest it begins again
}

// Sequence returns the sequence of that name, or nil.
func (c *Catalog) Sequence(name string) *Sequence {
	i := slices.IndexFunc(c.Sequences, func(s Sequence) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Sequences[i]
}

// fromSequence finds the sequence of a DEFAULT, as a catalogue writes it: that of another
// database with its name before.
var fromSequence = regexp.MustCompile("(?i)(?:nextval\\(|next value for )`?((?:[^`)]|`\\.`|``)+)`?")

// SequenceOf returns the sequence that counts a column; "" if none does.
func (c *Column) SequenceOf() string {
	if c.Default == nil || strings.HasPrefix(*c.Default, "'") {
		return ""
	}
	found := fromSequence.FindStringSubmatch(*c.Default)
	if found == nil {
		return ""
	}
	return strings.ReplaceAll(found[1], "``", "`")
}

// Source is one database that is to be merged, as the rules see it. It reads
// and never writes, and everything it returns belongs to one moment (one
// snapshot), so that counts and streams agree with each other.
//
// A Source is used by one goroutine at a time, and at most one Scan of it is
// open at any moment; no other method is called while one is. An error from any method means that the question was
// not answered; it is never a finding.
type Source interface {
	// Name is the operator's name for the database, and is safe to print.
	Name() string

	// Catalog reads the catalogue of the database.
	Catalog(ctx context.Context) (*Catalog, error)

	// Servers lists the servers whose IDs may be in the database, from its
	// registry. It is called only where the catalogue says that there is one.
	Servers(ctx context.Context) ([]Server, error)

	// Count is the exact number of rows of a table.
	Count(ctx context.Context, table string) (int64, error)

	// Scan streams the rows of one table in the requested order. The sequence ends
	// after the first error. A batch is valid until the next one.
	Scan(ctx context.Context, scan Scan) iter.Seq2[*Batch, error]

	// Row fetches one row to show it beside a finding: its columns as text
	// for people, in the order of the table. The row is named by the values
	// that a Scan carried for the given columns. It returns nil if there is no
	// such row.
	Row(ctx context.Context, table string, columns []string, values [][]byte) ([]Field, error)
}

// Ender is an optional interface of a [Source]: it returns the ends of an order without
// reading the rows between.
type Ender interface {
	// Ends returns the first and the last row of a scan, as a batch of one row
	// each, valid until the next call of any method. Both are nil if there is
	// no row. An [*UnsupportedError] means that they are not known.
	Ends(ctx context.Context, scan Scan) (first, last *Batch, err error)
}

// Placed is an optional interface of a [Source]: it knows whether another one is the same database.
type Placed interface {
	// SameDatabase reports whether another source is this very database, by whatever name; if not, unclear says
	// why it is not known.
	SameDatabase(ctx context.Context, other Source) (same bool, unclear string, err error)
}

// Stamper is an interface of a [Source] with tables outside of its snapshot.
type Stamper interface {
	// Stamp returns the state of the rows of a table at this moment: two stamps are
	// equal only if the rows are.
	Stamp(ctx context.Context, table string) (string, error)
}

// Field is one column of a row, as text for people. IDs are 20 digits.
type Field struct {
	Column string `json:"column"`
	Value  string `json:"value"`
	Null   bool   `json:"null,omitempty"`
}

// String shows NULL and empty values visibly.
func (f Field) String() string {
	switch {
	case f.Null:
		return "NULL"
	case f.Value == "":
		return `""`
	default:
		return f.Value
	}
}

// Catalog describes a database, as the database itself does.
type Catalog struct {
	// Engine is the kind of database: "sqlite", "mariadb" or "mysql".
	// EngineVersion is for people.
	Engine, EngineVersion string

	// SchemaVersion is the version that package store recorded, 0 for a
	// database that store did not make.
	SchemaVersion int

	// HasRegistry says that the database keeps a registry of servers.
	HasRegistry bool

	// Now is the database's clock.
	Now time.Time

	// Tables are the tables that hold the game's rows, by name. The registry
	// and other tables that describe the database itself are not among them.
	Tables []Table

	// About is how many rows the database estimates tables to have, without reading them; 0 if it does not.
	About map[string]int64

	// Skipped are the other tables that hold rows but will not be read. They are
	// reported as not verified.
	Skipped []Skipped

	// Sequences are the objects that count; they are among Skipped too.
	Sequences []Sequence

	// Views are the names of the views. They hold no rows of their own.
	Views []string

	// Collation is the default by which texts of new tables are compared; "" if a
	// database has no such default.
	Collation string

	// Routines are the statements that the database keeps and runs by themselves or
	// when they are called, as far as the account can see them.
	Routines []Routine

	// Given are numbers that merges gave to keys that came, also if they were undone.
	// No other key gets them.
	Given []Given

	// Unfinished are the merges into the database that were begun, and neither completed nor
	// undone: their IDs.
	Unfinished []string

	// Frozen says why the server accepts no writes at the moment, or not from every
	// account; "" if it accepts them.
	Frozen string

	// Replica says that the server is a replica, and how far it has come, for people; "" if it is none, as far as the
	// account may see. Behind says that it certainly lacks changes of its primary, or that this is not known.
	Replica string
	Behind  bool

	// HiddenTriggers says why the account cannot see the triggers of the tables, which may exist: "it needs GRANT
	// TRIGGER ..."; "" if it sees them.
	HiddenTriggers string
}

// Given is a range of numbers in a column of keys.
type Given struct {
	Table, Column string
	Range         keys.Range
}

// Skipped is a table that will not be read, and why: "CSV: not
// part of the snapshot".
type Skipped struct {
	Table  string
	Reason string
}

// Table is one table of a [Catalog].
type Table struct {
	Name       string
	Columns    []Column
	Primary    []string // columns of the primary key in its order; empty: none
	Uniques    []Unique // other unique indexes
	References []Reference

	// Engine is the storage engine, for example "InnoDB"; "" if a database has only
	// one.
	Engine string

	// Outside says why the table is in no snapshot: "MyISAM: not part of the
	// snapshot"; "" if it is in one. Its rows are read as they are at each moment;
	// see [Stamper].
	Outside string

	// AutoIncrement is the counter of the table; nil if it has none.
	AutoIncrement *AutoIncrement

	// Partitions is the partitioning of the table, as the database prints
	// it: "RANGE(year)"; "" if it is not.
	Partitions string

	// Conditions are the conditions that rows must meet to be inserted.
	Conditions []Condition
}

// Routine is an event, a procedure or a function of a database.
type Routine struct {
	Kind string // "EVENT", "PROCEDURE", "FUNCTION"; others may come
	Name string
	Body string // its definition, as the database prints it; "" if the account cannot see it
}

// AutoIncrement is a column whose values the database itself counts up.
type AutoIncrement struct {
	Column string
	Next   uint64 // the value that the next row would get; beyond Max there is none
	Max    uint64 // the largest value that it gives

	// Endless says that beyond Max a row gets any number that no row has, as in SQLite without
	// AUTOINCREMENT.
	Endless bool
}

// Column is one column of a [Table].
type Column struct {
	Name     string
	Type     string // as the database prints it
	Nullable bool

	// Collation decides which texts are equal; "" if the column is not text.
	Collation string

	// IsID says that the column holds gameid IDs.
	IsID bool

	// Kind is the kind of the values, whatever the exact type.
	Kind Kind

	// Default is the value for a row that does not name the column, as the database
	// prints it; nil if it has no default.
	Default *string

	// Generated is the expression by which the database makes the values
	// itself; "" for a column that can be written.
	Generated string

	// Virtual says that MySQL or MariaDB makes the values of a generated column anew whenever they are read.
	Virtual bool

	// Opaque says why keys may be inside the values, where no rule can read them, for
	// example "BLOB"; "" for a plain value. An opaque column is reported as not
	// verified, unless it is declared.
	Opaque string
}

// Kind is the kind of the values of a [Column]. Values of different kinds cannot be
// compared. Integers of all sizes can, as can texts, and bytes: they have one sorting
// form. The other kinds can only if the types are the same.
type Kind string

// The kinds of values.
const (
	KindOther   Kind = ""        // none of the others, or several of them
	KindInteger Kind = "integer" // signed or unsigned
	KindDecimal Kind = "decimal" // with a fixed number of digits
	KindReal    Kind = "real"    // floating point
	KindText    Kind = "text"    // under a collation
	KindBytes   Kind = "bytes"   // IDs among them
	KindTime    Kind = "time"    // a date, a time of day, or both
	KindJSON    Kind = "json"    // a document
	KindAny     Kind = "any"     // any value, as SQLite allows
)

// Unique is a unique index or a unique constraint.
type Unique struct {
	Name    string
	Columns []string // with [Expression] for each that is none

	// Unclear says why a Scan cannot decide which rows the index takes for
	// equal, for example "it covers only rows WHERE deleted = 0"; "" if it can. Such an
	// index is reported as not verified.
	Unclear string
}

const (
	Expression = "(an expression)"                 // among the columns of an index: no column has that name
	SomeRows   = "it covers only some of the rows" // an index that is Unclear; alone if a Scan can decide it of all rows
)

// Reference is a foreign key: the values of Columns must exist in ToColumns of ToTable,
// unless one of them is NULL.
type Reference struct {
	Name      string
	Columns   []string
	ToTable   string
	ToColumns []string

	// OnDelete and OnUpdate are the actions when the referenced row is deleted or
	// changes its key: "CASCADE", "SET NULL". "" means that it cannot be.
	OnDelete, OnUpdate string
}

func (r Reference) Subject() string {
	return ColumnList(r.Columns) + " → " + r.ToTable + "." + ColumnList(r.ToColumns)
}

// Server is a row of a database's registry. Its JSON form is part of the plan of
// a merge.
type Server struct {
	Server gameid.ServerID `json:"server"`

	// Name is the server's name for people; it may be empty.
	Name string `json:"name,omitempty"`

	// World is the random identity of the world that the number belongs to.
	World string `json:"world"`

	// Own says that the server runs on this database, and was not merged into it.
	Own bool `json:"own"`

	// Reserved is the mark: no ID of this server in the database may have a
	// later time, in milliseconds since gameid's epoch.
	Reserved int64 `json:"mark"`

	// Generation rises when a merge takes the world into a new database, and when an undo takes it back.
	Generation int64 `json:"generation,omitempty"`
}

// Scan describes the rows to stream from a table.
type Scan struct {
	Table string

	// Order names the columns to sort by, and to compare. Without any, the rows
	// come in any order.
	Order []Order

	// Unsorted asks for the sorting forms of the Order columns, and for the rows
	// in any order.
	Unsorted bool

	// Most, if not 0, is how many rows are wanted at most: the first ones.
	Most int

	// Carry names columns to bring along unsorted: usually the primary key,
	// by which [Source.Row] finds the row again. It may name columns of Order
	// too. If the sorting form of such a column is the value itself, as it is for IDs,
	// the Source reads it once and gives the same Vector twice. Other columns may
	// follow. Equal rows need not be sorted by them, since the key alone tells rows
	// apart.
	Carry []string

	// Numbers names columns of integers among Carry that may come as numbers: see Vector.Numbers.
	Numbers []string

	// SkipNull leaves out rows with a NULL in one of the Order columns: a unique index
	// ignores such a row, and it names no row. Without it, NULL sorts before every
	// value.
	SkipNull bool

	// Dangling, if not nil, is a reference of Table and leaves only those rows for
	// which it matches no row: none of its Columns is NULL, and no row of its ToTable,
	// in this database, has their values in ToColumns. The database decides that, in
	// the same snapshot and by its own collation.
	Dangling *Reference

	// Only, if not nil, leaves only these rows, which may be withheld. Only a [rules.Withholder]
	// gets such a Scan.
	Only Withheld
}

// Bring makes the rows bring a column along, and returns its place in Carry.
func (s *Scan) Bring(column string) int {
	i := slices.Index(s.Carry, column)
	if i < 0 {
		i, s.Carry = len(s.Carry), append(s.Carry, column)
	}
	return i
}

// Order is one column of the order of a [Scan].
type Order struct {
	Column string

	// Collation is the one to sort and compare text by, that of the first world,
	// which may not be the column's own. "" means that of the column.
	Collation string

	// Shift changes integers to their values in the new database: the rows are compared by
	// these. It keeps the order of the values. Another kind of value gives an
	// [*UnsupportedError].
	Shift *keys.Shift
}

// Batch is a run of rows, column by column.
type Batch struct {
	Len   int
	Order []Vector // in the form that sorts; see Vector
	Carry []Vector // as the database sent it
}

// Vector is one column of a [Batch].
//
// In Order columns the bytes are a form of the value that sorts: bytes.Compare
// gives the order of the first world, and two values are equal to the first world
// exactly when their bytes are. IDs and other binary values are their own
// sorting form; texts are given by their weights under the collation.
type Vector struct {
	// Width is the size of every value if all have the same, otherwise 0.
	Width int

	// Data holds the values one after the other. With Width 0, value i ends at
	// Ends[i].
	Data []byte
	Ends []int

	// Null marks the values that are NULL; nil if none is.
	Null []bool

	// Numbers, if not nil, has the values of integers in the place of Data: At writes their digits. Only columns that
	// Scan.Numbers names come so, and not in every batch.
	Numbers []int64
}

// Integer returns value i if it is an integer.
func (v *Vector) Integer(i int) (n keys.Integer, ok bool) {
	if v.Numbers != nil {
		return keys.Signed(v.Numbers[i]), !v.IsNull(i)
	}
	return keys.ParseInteger(v.At(i))
}

// IsNull reports whether value i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// At returns value i, which must not be changed. A NULL is nil; an empty value
// is not.
func (v *Vector) At(i int) []byte {
	if v.IsNull(i) {
		return nil
	}
	if v.Numbers != nil {
		return strconv.AppendInt(nil, v.Numbers[i], 10)
	}
	if v.Data == nil {
		return []byte{}
	}
	if v.Width > 0 {
		return v.Data[i*v.Width : (i+1)*v.Width : (i+1)*v.Width]
	}
	start := 0
	if i > 0 {
		start = v.Ends[i-1]
	}
	return v.Data[start:v.Ends[i]:v.Ends[i]]
}
