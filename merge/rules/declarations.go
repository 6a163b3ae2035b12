package rules

import "mergesafe/merge/keys"

// Declarations are the declarations of columns in one file of rules. If several cover
// one column, an exact name has precedence over a pattern, and then a later file over
// an earlier one. Two with the same precedence are an error.
//
// The entries of the lists are "table.column", of which both may be patterns, as in
// [Options.Allow]. A pattern that matches a table without such a column skips it;
// one that matches nothing is an error.
type Declarations struct {
	File string `json:"file,omitempty"` // for messages

	// Plain columns name nothing. In a Shared column the same value means the same thing in
	// all worlds: a key of the game's own data, an account of one account database.
	// Undecided ones are NOT VERIFIED as long as they are listed here.
	Plain     []string `json:"plain,omitempty"`
	Shared    []string `json:"shared,omitempty"`
	Undecided []string `json:"undecided,omitempty"`

	References []DeclaredReference `json:"references,omitempty"`

	// LineOf is in which line of File a text of one of the lists is, for messages; 0: not known. nil: none is.
	LineOf func(list, text string) int `json:"-"`

	// Schema is the one that the file was written for; nil: it names none.
	Schema *Reviewed `json:"schema,omitempty"`
}

// When selects the rows with one of some values in a column, or with none of them.
type When = keys.When

// DeclaredReference are columns whose values must exist in other columns although no
// foreign key says so. It names them by At and To or, if they are several columns
// together, by Table, Columns, ToTable and ToColumns.
type DeclaredReference struct {
	// At are columns, as in Declarations. To is the key column that they name, or
	// several, of which each value names one.
	At []string `json:"at,omitempty"`
	To []string `json:"to,omitempty"`

	Table     string   `json:"table,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	ToTable   string   `json:"to_table,omitempty"`
	ToColumns []string `json:"to_columns,omitempty"`

	// None are values that name no row, as the database prints them, or bounds of such
	// values: "0", "-1", "<32". NULL never names a row.
	None []string `json:"none,omitempty"`

	// Dangling are values whose row is gone, although they look like values that name no
	// row: a merge that gives keys new values gives them new ones too. They are written as
	// in None.
	Dangling []string `json:"dangling,omitempty"`

	// Format says where in a cell the keys are and how they are written there, in the
	// words of package cell, or names one of [Options.Codecs]; "": the value is the whole cell. With it, None and Dangling
	// apply to the keys, and Others also to numbers with another tag than that of the format.
	Format string `json:"format,omitempty"`

	// When limits the reference to some rows; nil: to none. The rows that no reference of
	// the column covers are judged as undeclared, unless Others of one of the references
	// is "plain".
	When   *When  `json:"when,omitempty"`
	Others string `json:"others,omitempty"`

	// Gone says what becomes of a row whose row stays behind, by [Leave] or the policy of its
	// table; "": the merge is blocked if there is one.
	Gone Gone `json:"gone,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// in says where the reference is declared.
func (r *DeclaredReference) in() string { return in(r.File, r.Line) }

// OthersPlain says that the rows that no condition covers name nothing.
const OthersPlain = "plain"

// Empty reports whether nothing is declared.
func (d *Declarations) Empty() bool {
	return len(d.Plain)+len(d.Shared)+len(d.Undecided)+len(d.References) == 0 && d.Schema == nil
}
