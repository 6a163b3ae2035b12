package schema

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/transfer/rowio"
)

// Each stage drops its connection in the end: with it go the lock and the settings of the session.

// MakeTables makes sequences, and tables with what belongs to their rows: columns, the primary key, checks, partitions,
// options, and the index that an AUTO_INCREMENT column needs at once. They count on from where the original is.
func (s *Schema) MakeTables(ctx context.Context, to *rowio.Connection) error {
	return s.stage(ctx, to, "", func(have *Schema) error {
		for _, o := range s.of(Sequence, Table) {
			statement := o.SQL
			if o.Kind == Table {
				statement = s.makeTable(o)
			}
			err := s.alike(have, func(is *Object) bool {
				return is.Kind == o.Kind && is.Name == o.Name || is.Table == o.Name && bare(is.Kind)
			})
			if have.find(o) == nil {
				err = create(ctx, to, o.String(), statement)
			}
			if err == nil && o.Kind == Sequence {
				err = setSequence(ctx, to, o)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// alike returns an error if some of the objects are otherwise already.
func (s *Schema) alike(have *Schema, some func(*Object) bool) error {
	if all := s.differences(have, some); len(all) > 0 {
		return fmt.Errorf("other objects are here already: %s: want an empty database", strings.Join(all, "; "))
	}
	return nil
}

// setSequence gives a sequence that was just made the value of the original.
func setSequence(ctx context.Context, to *rowio.Connection, o *Object) error {
	fresh, err := to.Number(ctx, "SELECT next_not_cached_value = start_value AND cycle_count = 0 FROM "+quote(o.Name), false)
	if err != nil || fresh == 0 {
		return err
	}
	return create(ctx, to, o.String(), "INSERT INTO "+quote(o.Name)+" VALUES ("+o.Counted+")")
}

func create(ctx context.Context, to *rowio.Connection, what, statement string) error {
	if statement == "" {
		return fmt.Errorf("%s: its statement could not be read", what)
	}
	if _, err := to.Exec(ctx, "create", statement, false); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// MakeIndexes makes the other indexes of a table, which may have rows: FULLTEXT, SPATIAL and VECTOR indexes one by
// one, the others together. If an earlier process was killed, its statement may still run on the server: MakeIndexes
// waits for its end.
func (s *Schema) MakeIndexes(ctx context.Context, to *rowio.Connection, table string) error {
	return s.stage(ctx, to, table, func(have *Schema) error { return s.complete(ctx, to, have, table, Index) })
}

// MakeReferences makes the foreign keys, without a look at the rows: a row may have no match in the original either.
// Foreign keys of SQLite belong to their tables.
func (s *Schema) MakeReferences(ctx context.Context, to *rowio.Connection) error {
	table := ""
	for _, o := range s.of(ForeignKey) {
		if o.Table == table {
			continue
		}
		table = o.Table
		err := s.stage(ctx, to, table, func(have *Schema) error { return s.complete(ctx, to, have, table, ForeignKey) })
		if err != nil {
			return err
		}
	}
	return nil
}

// complete adds what a table lacks of a kind.
func (s *Schema) complete(ctx context.Context, to *rowio.Connection, have *Schema, table string, kind Kind) error {
	err := s.alike(have, func(o *Object) bool { return o.Kind == kind && o.Table == table && have.find(o) != nil })
	if err != nil {
		return err
	}
	var together, statements []string
	for _, o := range s.of(kind) {
		if o.Table != table || have.find(o) != nil {
			continue
		}
		switch first := s.words(o.SQL)[0]; {
		case s.Engine == sqlite:
			statements = append(statements, o.SQL)
		case first.Keyword("FULLTEXT") || first.Keyword("SPATIAL") || first.Keyword("VECTOR"):
			statements = append(statements, "ALTER TABLE "+quote(table)+" ADD "+o.SQL)
		default:
			together = append(together, "ADD "+o.SQL)
		}
	}
	if len(together) > 0 {
		statements = slices.Insert(statements, 0, "ALTER TABLE "+quote(table)+" "+strings.Join(together, ", "))
	}
	for _, statement := range statements {
		if err := create(ctx, to, string(kind)+" of table "+printable.Text(table), statement); err != nil {
			return err
		}
	}
	return nil
}

// rest are the kinds of objects that hold no rows.
var rest = []Kind{Package, PackageBody, Function, Procedure, View, Trigger, Event}

// MakeRest makes routines, views, triggers in their order, and events, which are disabled.
func (s *Schema) MakeRest(ctx context.Context, to *rowio.Connection) error {
	s = s.disabled()
	return s.stage(ctx, to, "", func(have *Schema) error {
		err := s.alike(have, func(o *Object) bool { return slices.Contains(rest, o.Kind) && have.find(o) != nil })
		if err != nil {
			return err
		}
		missing := slices.DeleteFunc(s.of(rest...), func(o *Object) bool { return have.find(o) != nil })
		collation := have.collation // an earlier attempt may have left another one
		for len(missing) > 0 {
			var again []*Object // views that read a view which is not here yet
			var refused error
			for _, o := range missing {
				if collation, err = s.remake(ctx, to, o, o.SQL, collation); err == nil {
					continue
				}
				if o.Kind != View || !sqldb.IsRefused(err) {
					return err
				}
				again, refused = append(again, o), err
			}
			if len(again) == len(missing) {
				return refused
			}
			missing = again
		}
		_, err = setCollation(ctx, to, collation, s.collation)
		return err
	})
}

// remake carries out the statement of an object with the settings that it keeps, and returns the collation that the
// database has then.
func (s *Schema) remake(ctx context.Context, to *rowio.Connection, o *Object, statement, collation string) (string, error) {
	collation, err := setCollation(ctx, to, collation, cmp.Or(o.Collation, s.collation))
	if err == nil && o.Settings != "" {
		_, err = to.Exec(ctx, "session", "SET SESSION "+o.Settings, false)
	}
	if err == nil {
		err = create(ctx, to, o.String(), statement)
	}
	return collation, err
}

// setCollation gives the database a collation, if it has another one.
func setCollation(ctx context.Context, to *rowio.Connection, have, want string) (now string, err error) {
	if have != want {
		_, err = to.Exec(ctx, "create", "ALTER DATABASE COLLATE "+want, false)
	}
	return want, err
}

// EnableEvents gives the events the state that they have in the original.
func (s *Schema) EnableEvents(ctx context.Context, to *rowio.Connection) error {
	return s.stage(ctx, to, "", func(have *Schema) (err error) {
		collation := have.collation
		for _, o := range s.of(Event) {
			before, state, _ := splitEvent(o.SQL)
			if state == "" || state == "DISABLE" {
				continue
			}
			all := sqltext.MySQL(before)
			i := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("EVENT") })
			// Without its definer it would get this account.
			alter := "ALTER" + before[all[0].End():all[i+1].End()] + " " + state
			if collation, err = s.remake(ctx, to, o, alter, collation); err != nil {
				return err
			}
		}
		_, err = setCollation(ctx, to, collation, s.collation)
		return err
	})
}

// disabled is the schema with events that do not run.
func (s *Schema) disabled() *Schema {
	other := *s
	other.Objects = slices.Clone(s.Objects)
	for _, o := range other.of(Event) {
		if before, state, after := splitEvent(o.SQL); state != "" {
			o.SQL = before + "DISABLE" + after
		}
	}
	return &other
}

// splitEvent finds the state in the statement that makes an event: ENABLE, DISABLE or DISABLE ON REPLICA.
func splitEvent(sql string) (before, state, after string) {
	all := sqltext.MySQL(sql)
	for i := 0; i+1 < len(all); i++ {
		if !all[i].Keyword("PRESERVE") {
			continue
		}
		first, last := all[i+1], all[i+1]
		if i+3 < len(all) && all[i+2].Keyword("ON") {
			last = all[i+3]
		}
		return sql[:first.Start], sql[first.Start:last.End()], sql[last.End():]
	}
	return sql, "", ""
}

// makeSettings are best for making objects. A server may not know them all, or not let this account change them.
var makeSettings = []string{
	"foreign_key_checks = 0",
	"explicit_defaults_for_timestamp = 1",    // or a TIMESTAMP would get a default
	"innodb_strict_mode = 0",                 // options without an effect are kept
	"sql_generate_invisible_primary_key = 0", // MySQL
	"restrict_fk_on_non_standard_key = 0",    // MySQL
}

// stage prepares a session in which objects are made, and calls f with what is there: all objects, or one table.
func (s *Schema) stage(ctx context.Context, to *rowio.Connection, table string, f func(have *Schema) error) error {
	have := &Schema{Engine: s.Engine}
	err := error(nil)
	if s.Engine != sqlite {
		defer to.Drop() // and with it the lock and the settings
		err = lock(ctx, to, table)
		for _, setting := range makeSettings {
			if err == nil {
				_, err = to.Exec(ctx, "session", "SET SESSION "+setting, false)
			}
			if sqldb.IsRefused(err) || sqldb.IsDenied(err) {
				err = nil
			}
		}
	}
	switch {
	case err != nil:
	case table == "" || s.Engine == sqlite:
		have, err = Read(ctx, to)
	default:
		if err = have.readDatabase(ctx, to); err == nil {
			err = have.readObjects(ctx, to, []Object{{Kind: Table, Name: table}})
		}
	}
	if err == nil {
		err = f(have)
	}
	if err != nil {
		return fmt.Errorf("making the schema of %q: %w", to.Name, err)
	}
	return nil
}

// lock waits until no other session makes objects in this table, or in all of the database. A session whose process
// was killed keeps the lock until its last statement ends on the server.
func lock(ctx context.Context, to *rowio.Connection, table string) error {
	database, err := one(ctx, to, "SELECT DATABASE()")
	if err != nil {
		return err
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%q %q", rowio.Text(database[0]), table)
	name := fmt.Sprintf("mergesafe schema %x", h.Sum(nil))
	const day = 24 * 60 * 60
	got, err := to.Number(ctx, "SELECT COALESCE(GET_LOCK(?, ?), -1)", false, name, day)
	if err == nil && got != 1 {
		err = fmt.Errorf("another session makes objects: SELECT IS_USED_LOCK('%s') tells its number, KILL ends it", name)
	}
	return err
}
