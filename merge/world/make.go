package world

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
)

// MakeTables makes sequences, and tables with what belongs to their rows: columns, the primary key, checks, partitions,
// options, and the index that an AUTO_INCREMENT column needs at once. They count on from where the original is.
func (s *Schema) MakeTables(ctx context.Context, to *Connection) error {
	return s.stage(ctx, to, "", func(m *maker) (err error) {
		for _, o := range s.of(Sequence, Table) {
			switch {
			case m.have.find(o) != nil:
				err = m.alike(func(is *Object) bool {
					return is.Kind == o.Kind && is.Name == o.Name || is.Table == o.Name && m.settled(is)
				})
			case o.Kind == Table:
				err = m.create(o, s.makeTable(o))
			default:
				err = m.create(o, o.SQL)
			}
			if err == nil && o.Kind == Sequence {
				err = m.count(o)
			}
			if err != nil {
				return err
			}
		}
		return m.made(func(o *Object) bool { return o.Kind == Sequence || m.settled(o) })
	})
}

// settled reports whether a part of a table is as it was made. MySQL may have rewritten the constants of CHECK constraints
// if an earlier attempt made the table: see [Schema.RestoreChecks].
func (m *maker) settled(o *Object) bool {
	earlier := m.have.find(&Object{Kind: Table, Name: o.Table}) != nil
	return bare(o.Kind) && !(o.Kind == Check && m.Engine == engineMySQL && earlier)
}

// MakeIndexes makes the other indexes of a table, which may have rows, in their order: FULLTEXT, SPATIAL and VECTOR
// indexes one by one, those between them together. If an earlier process was killed, its statement may still run on the
// server: MakeIndexes waits for its end.
func (s *Schema) MakeIndexes(ctx context.Context, to *Connection, table string) error {
	if !slices.ContainsFunc(s.Objects, func(o Object) bool { return o.Kind == Index && o.Table == table }) {
		return nil
	}
	return s.stage(ctx, to, table, func(m *maker) error { return m.complete(table, Index) })
}

// MakeReferences makes the foreign keys, without a look at the rows: a row may have no match in the original either.
// Foreign keys of SQLite belong to their tables.
func (s *Schema) MakeReferences(ctx context.Context, to *Connection) error {
	keys := s.of(ForeignKey)
	for i, o := range keys {
		if i > 0 && keys[i-1].Table == o.Table {
			continue
		}
		if err := s.stage(ctx, to, o.Table, func(m *maker) error { return m.complete(o.Table, ForeignKey) }); err != nil {
			return err
		}
	}
	return nil
}

// RestoreChecks gives the CHECK constraints of MySQL their text again. Whatever alters a table there, be it the counter,
// rewrites their constants: '100:00:00' beside a TIME becomes TIME'100:00:00'. To restore them copies the table, so it is
// done once, after the last ALTER TABLE, and only where they differ.
func (s *Schema) RestoreChecks(ctx context.Context, to *Connection) error {
	checks := s.of(Check)
	for i, o := range checks {
		if s.Engine != engineMySQL || i > 0 && checks[i-1].Table == o.Table {
			continue
		}
		if err := s.stage(ctx, to, o.Table, func(m *maker) error { return m.restoreChecks(o.Table) }); err != nil {
			return err
		}
	}
	return nil
}

// restoreChecks is RestoreChecks of a table.
func (m *maker) restoreChecks(table string) error {
	var changes []string
	for _, o := range m.of(Check) {
		if is := m.have.find(o); is != nil && o.Table == table && !m.same(o, is) {
			changes = append(changes, "DROP CHECK "+quote(o.Name), "ADD "+o.SQL)
		}
	}
	if len(changes) > 0 {
		all := Object{Kind: Table, Name: table}
		if err := m.create(&all, "ALTER TABLE "+quote(table)+" "+strings.Join(changes, ", ")); err != nil {
			return err
		}
	}
	return m.made(func(o *Object) bool { return o.Kind == Check && o.Table == table })
}

// rest are the kinds of objects that hold no rows.
var rest = []Kind{Package, PackageBody, Function, Procedure, View, Trigger, Event}

// MakeRest makes routines, views, triggers in their order, and events, which are disabled.
func (s *Schema) MakeRest(ctx context.Context, to *Connection) error {
	return s.stage(ctx, to, "", func(m *maker) error {
		made := func(o *Object) bool { return m.have.find(o) != nil }
		err := m.alike(func(o *Object) bool { return slices.Contains(rest, o.Kind) && made(o) })
		missing := slices.DeleteFunc(s.of(rest...), made)
		for err == nil && len(missing) > 0 {
			var again []*Object // views that read a view which is not here yet
			for _, o := range missing {
				if err = m.remake(o, o.SQL); err != nil && (o.Kind != View || !sqldb.Says(err, sqldb.Refused)) {
					return err
				} else if err != nil {
					again = append(again, o)
				}
			}
			if len(again) < len(missing) {
				err = nil
			}
			missing = again
		}
		if err != nil {
			return err
		}
		return m.collate(s.collation) // an earlier attempt may have left another one
	})
}

// EnableEvents gives the events that are there the state that they have in the original.
func (s *Schema) EnableEvents(ctx context.Context, to *Connection) error {
	return s.stage(ctx, to, "", func(m *maker) error {
		there, err := Contains(ctx, to)
		if err != nil {
			return err
		}
		for _, o := range s.of(Event) {
			all := sqltext.MySQL(o.SQL)
			if len(all) == 0 || !slices.Contains(there, o.Name) {
				continue // it could not be read, and was not made; or it is gone again
			}
			name := 1 + slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("EVENT") })
			// Without its definer it would get this account.
			if err := m.remake(o, "ALTER"+o.SQL[all[0].End():all[name].End()]+" "+o.State); err != nil {
				return err
			}
		}
		return m.collate(s.collation)
	})
}

// makeSettings are best for making objects, with the comment that only servers read that know them. A server may
// read it in its own way, and not let this account change them.
var makeSettings = []struct{ comment, setting string }{
	{"", "foreign_key_checks = 0"},
	{"", "innodb_strict_mode = 0"},                       // options without an effect are kept
	{"M!100307", "alter_algorithm = 'DEFAULT'"},          // INSTANT makes no index
	{"M!100101", "innodb_compression_default = 0"},       // no option that the world's table lacks
	{"!50700", "explicit_defaults_for_timestamp = 1"},    // or a TIMESTAMP would get a default
	{"M!100804", "explicit_defaults_for_timestamp = 1"},  // the same
	{"!80013", "sql_require_primary_key = 0"},            // MySQL
	{"!80030", "sql_generate_invisible_primary_key = 0"}, // MySQL
	{"!80400", "restrict_fk_on_non_standard_key = 0"},    // MySQL
	{"", MakingMode},
}

// prepare gives a session these settings: by one statement or, if a server refuses that, one by one.
func (m *maker) prepare() error {
	var all []string
	for _, s := range makeSettings {
		if s.comment != "" {
			all = append(all, "/*"+s.comment+" "+s.setting+", */")
		} else {
			all = append(all, s.setting+",")
		}
	}
	_, err := m.to.Exec(m.ctx, "session", "SET SESSION "+strings.TrimSuffix(strings.Join(all, " "), ","), false)
	refused := func() bool { return sqldb.Says(err, sqldb.Refused) || sqldb.IsDenied(err) }
	if !refused() {
		return err
	}
	for _, s := range makeSettings {
		if _, err = m.to.Exec(m.ctx, "session", "SET SESSION "+s.setting, false); err != nil && !refused() {
			return err
		}
	}
	return nil
}

// maker makes objects in one session. When it ends, so do its lock and its settings.
type maker struct {
	*Schema
	ctx       context.Context
	to        *Connection
	table     string  // "": all of the database
	have      *Schema // what was there in the beginning: all objects, or that table
	collation string  // of the database at present
}

// stage prepares a session, and calls f.
func (s *Schema) stage(ctx context.Context, to *Connection, table string, f func(m *maker) error) error {
	m := &maker{Schema: s, ctx: ctx, to: to, table: table}
	err := error(nil)
	if s.Engine != sqlite {
		defer to.Drop()
		err = lock(ctx, to, table)
		if err == nil {
			err = m.prepare()
		}
	}
	if err == nil {
		m.have, err = m.look()
	}
	if err == nil {
		m.collation = m.have.collation
		err = f(m)
	}
	if err != nil {
		err = fmt.Errorf("making the schema of %q: %w", to.Name, err)
	}
	return err
}

// look reads what is there now.
func (m *maker) look() (*Schema, error) {
	if m.table == "" || m.Engine == sqlite {
		return Read(m.ctx, m.to)
	}
	now := &reader{Schema: new(Schema), on: m.to}
	err := now.readServer(m.ctx)
	if err == nil {
		err = now.readObjects(m.ctx, []Object{{Kind: Table, Name: m.table}})
	}
	return now.Schema, err
}

// made returns an error if some of the objects were made otherwise than they are: a server that is not strict may
// change what it cannot make, such as an index of more bytes than its pages take.
func (m *maker) made(some func(*Object) bool) error {
	now, err := m.look()
	if err != nil {
		return err
	}
	all := m.differences(now, some)
	for _, d := range all {
		if strings.HasSuffix(d, onlyHere) && !strings.Contains(d, " of table ") {
			return fmt.Errorf("others change the new database while the merge makes it: %s: drop what is theirs, then run the same command again", strings.TrimSuffix(d, onlyHere))
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("the database server creates them differently: %s", strings.Join(all, "; "))
	}
	return nil
}

// alike returns an error if some of the objects are otherwise already.
func (m *maker) alike(some func(*Object) bool) error {
	if all := m.differences(m.have, some); len(all) > 0 {
		return fmt.Errorf("it already has other objects: %s: want an empty database", strings.Join(all, "; "))
	}
	return nil
}

// create carries out the statement of an object.
func (m *maker) create(o *Object, statement string) error {
	if statement == "" {
		return fmt.Errorf("%s: its statement could not be read", o)
	}
	if _, err := m.to.Exec(m.ctx, "create", statement, false); err != nil {
		return fmt.Errorf("%s: %w", o, err)
	}
	return nil
}

// remake is create with the settings that the object keeps.
func (m *maker) remake(o *Object, statement string) error {
	err := m.collate(cmp.Or(o.Collation, m.collation))
	if err == nil && o.Settings != "" {
		_, err = m.to.Exec(m.ctx, "session", "SET SESSION "+o.Settings, false)
	}
	if err == nil {
		err = m.create(o, statement)
	}
	return err
}

// collate gives the database a collation.
func (m *maker) collate(collation string) (err error) {
	if m.collation != collation {
		_, err = m.to.Exec(m.ctx, "create", "ALTER DATABASE COLLATE "+collation, false)
	}
	m.collation = collation
	return err
}

// count gives a sequence that was just made the value of the original.
func (m *maker) count(o *Object) error {
	const fresh = "SELECT next_not_cached_value = start_value AND cycle_count = 0 FROM "
	n, err := m.to.Number(m.ctx, fresh+quote(o.Name), false)
	if err == nil && n == 1 {
		err = m.create(o, "INSERT INTO "+quote(o.Name)+" VALUES ("+o.Counted+")")
	}
	return err
}

// complete adds what a table lacks of a kind.
func (m *maker) complete(table string, kind Kind) error {
	made := func(o *Object) bool { return m.have.find(o) != nil }
	if err := m.alike(func(o *Object) bool { return o.Kind == kind && o.Table == table && made(o) }); err != nil {
		return err
	}
	var statements []Object // in the order in which the original lists its indexes
	together := false       // whether the last one may take more
	for _, o := range m.of(kind) {
		if o.Table != table || made(o) {
			continue
		}
		first := m.words(o.SQL)[0]
		alone := m.Engine == sqlite || first.Keyword("FULLTEXT") || first.Keyword("SPATIAL") || first.Keyword("VECTOR")
		switch {
		case m.Engine == sqlite:
			statements = append(statements, *o)
		case together && !alone:
			statements[len(statements)-1].SQL += ", ADD " + o.SQL
		default:
			statements = append(statements, Object{Kind: kind, Table: table,
				SQL: "ALTER TABLE " + quote(table) + " ADD " + o.SQL})
		}
		together = !alone
	}
	for i := range statements {
		if err := m.create(&statements[i], statements[i].SQL); err != nil {
			return err
		}
	}
	if len(statements) == 0 {
		return nil
	}
	return m.made(func(o *Object) bool { return o.Kind == kind && o.Table == table })
}

// lock waits until no other session makes objects in this table, or in all of the database. A session whose process
// was killed keeps the lock until its last statement ends on the server.
func lock(ctx context.Context, to *Connection, table string) error {
	name, got, err := locked(ctx, to, "schema", table, 24*time.Hour)
	if err == nil && !got {
		err = fmt.Errorf("another session makes objects: SELECT IS_USED_LOCK('%s') tells its number, KILL ends it", name)
	}
	return err
}

// Undo reports whether this session of MySQL or MariaDB is that of the only undo in its database, until the session ends. It
// waits for another one that long, but not over 5 s, nor under one, in which a session that was closed ends, and returns the
// name of the lock.
func Undo(ctx context.Context, on *Connection, wait time.Duration) (name string, alone bool, err error) {
	return locked(ctx, on, "undo", "", max(time.Second, min(wait, 5*time.Second)))
}

// Undoing returns the name of the lock of an undo that is at work in a database of MySQL or MariaDB; "" if there is none.
func Undoing(ctx context.Context, d Database) (name string, err error) {
	server, database, err := Server(d)
	if err != nil {
		return "", err
	}
	on := &Connection{Database: server}
	defer on.Close()
	name = lockName("undo", database, "")
	holder, err := on.Number(ctx, "SELECT COALESCE(IS_USED_LOCK(?), 0)", false, name)
	if err != nil || holder == 0 {
		name = ""
	}
	return name, err
}

func lockName(what, database, table string) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%q %q", database, table)
	return fmt.Sprintf("mergesafe %s %x", what, h.Sum(nil))
}

func locked(ctx context.Context, on *Connection, what, table string, wait time.Duration) (name string, got bool, err error) {
	database, err := one(ctx, on, "SELECT DATABASE()")
	if err != nil {
		return "", false, err
	}
	name = lockName(what, Text(database[0]), table)
	is, err := on.Number(ctx, "SELECT COALESCE(GET_LOCK(?, ?), -1)", false, name, int(wait.Seconds()))
	return name, is == 1, err
}
