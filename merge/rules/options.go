package rules

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"mergesafe/merge/keys"
)

// Samples is how many conflicts a result shows. Counts are exact whatever it is.
const Samples = 3

// DefaultSlack is more than a healthy game server needs: the clock disagreement at which it
// refuses to start, and the reservation by which its IDs may run ahead.
const DefaultSlack = 10 * time.Minute

// InnoDB is the engine of [Options.Engine].
const InnoDB = "InnoDB"

// ErrOptions says that [Options] are invalid: they name a table, a column or a
// code that does not exist, or a value out of range.
var ErrOptions = errors.New("unsuitable options")

// Options configures a check. The zero value means the defaults.
type Options struct {
	// Slack is how much later than the clock an ID may be before it counts as
	// from the future: 0 is [DefaultSlack].
	Slack time.Duration

	// Now is the time to compare IDs with. The default is the clock of the
	// database that holds them.
	Now time.Time

	// Tables are the policies of tables; without one, the rows are copied.
	Tables []TablePolicy

	// Leave says which rows of the worlds stay behind.
	Leave []Leave

	// Engine is what tables of engines without transactions get in the new database: [InnoDB], or "", and the plan
	// refuses such tables.
	Engine string

	// Rules are the declarations of the files of rules, in the order of the files.
	Rules []Declarations

	// Codecs are the codecs of the game's own that formats of Rules name.
	Codecs keys.Codecs

	// Uniques are constraints that the game relies on and the schema does not declare. IDs are columns that hold gameid IDs although their type does not say so.
	// Accounts are columns that hold a player's account. A name that no world has is an error; one of a table that
	// is left out is ignored, and one of a table that no source can read is reported with the table.
	Uniques  []DeclaredUnique
	IDs      []IDColumn
	Accounts []AccountColumn

	// Renames are columns of which [[merge.name]] changes values that several databases
	// have: such values are not a conflict, and rows that reference them by a declared
	// reference follow. Copies are columns that change with them, by a key.
	Renames []RenamedColumn
	Copies  []NameCopy

	// Worlds are keys that carry the server of their world.
	Worlds []WorldKey

	// Rekey, if not nil, makes the check judge a merge that gives keys new values.
	Rekey *Rekey

	// Allow names results that do not change the verdict: they count as PASS, and say
	// so; conflicts with which rows would be lost or mixed up count nevertheless
	// (verdict.Unallowable). An entry is "CODE", "CODE:table" or "CODE:table.column", of which table and
	// column may be patterns: * is any characters, {0..18} one of these numbers, and
	// put a name with a dot in backquotes. One that matches no table or column is an
	// error.
	Allow []string

	// Unshown leaves out the rows by which conflicts and columns are shown to people, and does
	// not read for them: a plan without a report counts, and reads no row again.
	Unshown bool

	// Propose makes the check look for uniques that are worth declaring, and judge
	// what every column is, which takes one more reading of all tables; see
	// [verdict.Report.Proposals] and [verdict.Report.Proposed].
	Propose bool

	// Progress, if not nil, is called after every batch that was read, by one
	// goroutine at a time. It never changes the result.
	Progress func(Progress)

	// Judging, if not nil, is called every second with a condition that the server of a world has judged for
	// [JudgingSlow] or longer, for several worlds at a time.
	Judging func(source, condition string, took time.Duration)

	// Clock stamps the start and the end of the report. The default is
	// [time.Now].
	Clock func() time.Time
}

// DeclaredUnique are columns whose values the game wants to be unique although no index
// says so, such as the names of characters. Rows with a NULL in one of them are left
// out.
type DeclaredUnique struct {
	Table   string   `json:"table" toml:"table"`
	Columns []string `json:"columns" toml:"columns"`
	Name    string   `json:"name,omitempty" toml:"name,omitempty"` // what people call it: "character name"

	// None are values that several rows may have, as in [DeclaredReference]: '' of
	// characters that were deleted. A row with one of them is left out.
	None []string `json:"none,omitempty" toml:"none,omitempty"`

	// Of are those of the columns that say which row a row belongs to: it is left out if that
	// is none, as none of a reference of such a column says.
	Of []string `json:"-" toml:"-"`

	File string `json:"-" toml:"-"` // for messages
	Line int    `json:"-" toml:"-"` // in File; 0: not known
}

// IDColumn is a column that holds gameid IDs: 10 bytes, or 20 hexadecimal
// digits as text.
type IDColumn struct {
	Table  string `json:"table" toml:"table"`
	Column string `json:"column" toml:"column"`

	File string `json:"-" toml:"-"` // for messages
	Line int    `json:"-" toml:"-"` // in File; 0: not known
}

// AccountColumn is a column with the account of a character. The check finds accounts
// that have characters in several worlds.
type AccountColumn struct {
	Table  string `json:"table" toml:"table"`
	Column string `json:"column" toml:"column"`
	Max    int    `json:"max" toml:"max"` // characters that one account may have; 0: any number

	File string `json:"-" toml:"-"` // for messages
	Line int    `json:"-" toml:"-"` // in File; 0: not known
}

func (o Options) WithDefaults() Options {
	o.Slack = cmp.Or(o.Slack, DefaultSlack)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// Stamp is the time for a report, in the precision that people and JSON see.
func (o Options) Stamp() time.Time { return o.Clock().UTC().Truncate(time.Millisecond) }

// Unsuitable is an error like [ErrOptions] that says no more than what is wrong.
func Unsuitable(format string, args ...any) error { return unsuitable(fmt.Sprintf(format, args...)) }

type unsuitable string

func (e unsuitable) Error() string      { return string(e) }
func (unsuitable) Is(target error) bool { return target == ErrOptions }
