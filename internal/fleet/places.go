package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// placesTable is the table of places.
const placesTable = "fleet_places"

// Place is the location of a world's database, for tools that work on many worlds. It has
// no user and no password: those come from the configuration of the tool.
type Place struct {
	World string // the name that people and config.toml use

	// DSN is in the form of store.Open, without user and password:
	// "mysql:tcp(db3:3306)/game_w1", or "sqlite:" and the path of a file.
	DSN string

	// Labels say what people want to know of a world, such as its language and time zone.
	Labels map[string]string

	By, Why string
	SetAt   time.Time

	// Err says why the record of this world cannot be used, and how to replace or remove it;
	// nil if it can. Otherwise DSN and Labels are empty: what they hold may be a secret.
	Err error
}

// WithAccount returns the DSN with an account, user:password. The result is secret. A DSN of
// SQLite is returned as it is, because it needs no account.
func (p Place) WithAccount(account string) string {
	if rest, ok := strings.CutPrefix(p.DSN, string(sqldb.MySQL)+":"); ok && account != "" {
		return string(sqldb.MySQL) + ":" + account + "@" + rest
	}
	return p.DSN
}

const (
	maxDSN    = 1024 // characters
	maxLabels = 2048 // characters of JSON
)

var labelName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// validate returns an error that does not quote the DSN, which may have a password in it.
func (p Place) validate() error {
	if p.World == "" || len([]rune(p.World)) > 200 || strings.ContainsFunc(p.World, unicode.IsControl) {
		return fmt.Errorf("the name %.40q is not fit for a world: want 1 to 200 characters, none of them a control character", p.World)
	}
	if strings.ContainsAny(p.World, `:/\*{}`) || p.World[0] == '-' || !utf8.ValidString(p.World) {
		const want = `want UTF-8 without colon, slash, star or brace, and no "-" in front`
		return fmt.Errorf("the name %.40q is not fit for a world: %s", p.World, want)
	}
	dialect, rest, err := sqldb.SplitDSN(p.DSN)
	switch {
	case err != nil:
	case dialect != sqldb.MySQL && dialect != sqldb.SQLite:
		err = errors.New("unknown kind of database for a merge: want MariaDB, MySQL or SQLite")
	case dialect == sqldb.MySQL && strings.Contains(rest, "@"):
		err = errors.New(`it has an account in it: want no user and no password, as in "mysql:tcp(db3:3306)/game"`)
	case len([]rune(p.DSN)) > maxDSN || strings.ContainsFunc(p.DSN, unicode.IsControl):
		err = fmt.Errorf("want at most %d characters, none of them a control character", maxDSN)
	case dialect == sqldb.SQLite && strings.Contains(rest, ":"):
		err = errors.New("it may have a password in it: want the path of a file, without a colon")
	}
	if err != nil {
		return fmt.Errorf("the place of %q: %w", p.World, err)
	}
	for name, value := range p.Labels {
		if !labelName.MatchString(name) {
			return fmt.Errorf("the label %.40q: want letters, digits and _ in its name, such as language", name)
		}
		if _, _, err := sqldb.SplitDSN(value); err == nil || strings.Contains(value, "@tcp(") || strings.Contains(value, "@unix(") {
			return fmt.Errorf("the label %s looks like a DSN, and labels are shown", name)
		}
		if value == "" || len([]rune(value)) > 64 || strings.ContainsFunc(value, unicode.IsControl) {
			return fmt.Errorf("the label %s: want 1 to 64 characters, none of them a control character", name)
		}
	}
	return nil
}

// openable returns what is wrong with the DSN as far as its driver can tell without a
// connection. The file of SQLite may be on another machine.
func (p Place) openable() error {
	if strings.HasPrefix(p.DSN, string(sqldb.SQLite)+":") {
		if sqldb.Redact(p.DSN) != p.DSN {
			return fmt.Errorf("the place of %q: it may have a password in it: want a path of letters, digits, spaces and _-.$#+~/", p.World)
		}
		return nil
	}
	db, err := sqldb.Open(p.DSN, sqldb.ReadWrite)
	if err != nil {
		return fmt.Errorf("the place of %q: %w", p.World, err)
	}
	return db.Close()
}

// SetPlace records where the database of a world is, and replaces the former record.
func (f *Fleet) SetPlace(ctx context.Context, place Place, note Note) error {
	if err := cmp.Or(place.validate(), place.openable()); err != nil {
		return err
	}
	labels, err := json.Marshal(place.Labels)
	if err != nil {
		return err
	}
	if len([]rune(string(labels))) > maxLabels {
		return fmt.Errorf("the labels of %q: want at most %d characters in all", place.World, maxLabels)
	}
	if _, err := f.Identity(ctx); err != nil {
		return err
	}
	set := func(tx *sqldb.Tx) error {
		dialect := f.db.Dialect()
		found, err := tx.Swap(ctx, dialect.With("UPDATE "+placesTable+" SET place = ?, labels = ?, set_ms = {now}, who = ?, why = ? WHERE world = ?"),
			place.DSN, string(labels), note.By, note.Why, place.World)
		if err == nil && !found {
			_, err = tx.Exec(ctx, dialect.With("INSERT INTO "+placesTable+" (world, place, labels, set_ms, who, why) VALUES (?, ?, ?, {now}, ?, ?)"),
				place.World, place.DSN, string(labels), note.By, note.Why)
		}
		return err
	}
	err = f.db.RetryTx(ctx, set)
	if errors.Is(err, sqldb.ErrDuplicate) { // another process was faster: now there is a row
		err = f.db.RetryTx(ctx, set)
	}
	return f.fault(f.db.ExplainLock(ctx, err, fmt.Sprintf("the world %q", place.World), "SELECT world FROM "+placesTable+" WHERE world = ?", place.World))
}

// ForgetPlace removes the record of where the database of a world is, also one that cannot be
// used. A name that cannot be typed may be given as it is printed.
func (f *Fleet) ForgetPlace(ctx context.Context, world string) error {
	all, err := f.Places(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p Place) bool { return p.World == world })
	if i < 0 {
		i = slices.IndexFunc(all, func(p Place) bool { return printable.Text(p.World) == world })
	}
	if i < 0 {
		return f.fault(fmt.Errorf("no place of %.40q is known", world))
	}
	column := "world"
	if f.db.Dialect() == sqldb.SQLite {
		column = "CAST(world AS TEXT)" // another program may have written bytes
	}
	return f.fault(sqldb.Retry(ctx, func() error {
		_, err := f.db.Exec(ctx, "DELETE FROM "+placesTable+" WHERE "+column+" = ?", all[i].World)
		return err
	}))
}

// Places returns where the databases of worlds are, sorted by the worlds' names. One that
// cannot be used says so in its Err, and the others are as ever.
func (f *Fleet) Places(ctx context.Context) ([]Place, error) {
	if _, err := f.Identity(ctx); err != nil {
		return nil, err
	}
	var rows []placeRow
	if err := f.db.Select(ctx, &rows, "SELECT world, place, labels, set_ms, who, why FROM "+placesTable+" ORDER BY world"); err != nil {
		return nil, f.fault(err)
	}
	var all []Place
	for _, row := range rows {
		p, err := row.place()
		if err != nil { // of what others wrote there
			p = Place{World: row.World, By: row.Who, Why: row.Why, SetAt: p.SetAt, Err: f.fault(fmt.Errorf(
				"%w; set the place again, or remove it: gameid servers places forget -- %s", err, printable.Quoted(row.World)))}
		}
		all = append(all, p)
	}
	return all, nil
}

// placeRow is a row as texts, which no value of another type keeps from being read.
type placeRow struct {
	World  string `db:"world"`
	Place  string `db:"place"`
	Labels string `db:"labels"`
	Set    string `db:"set_ms"`
	Who    string `db:"who"`
	Why    string `db:"why"`
}

func (row placeRow) place() (Place, error) {
	p := Place{World: row.World, DSN: row.Place, By: row.Who, Why: row.Why}
	set, err := strconv.ParseInt(row.Set, 10, 64)
	if at := sqldb.UnixMilli(set); err != nil || at.Year() < 0 || at.Year() > 9999 {
		return p, fmt.Errorf("the place of %.40q: set_ms is %.40q, want milliseconds since 1970", row.World, row.Set)
	}
	p.SetAt = sqldb.UnixMilli(set)
	if err := json.Unmarshal([]byte(row.Labels), &p.Labels); err != nil {
		return p, fmt.Errorf("the place of %.40q: its labels are not a JSON object of strings", row.World)
	}
	return p, p.validate()
}
