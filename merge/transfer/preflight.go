package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/store"
)

// preflight looks at everything that can be known before the first write. begun
// tells that the merge was begun by an earlier call.
func (r *run) preflight(ctx context.Context, target Database, sources []Database, begun bool) error {
	if len(r.plan.Refusals) > 0 {
		return &RefusedError{Doing: "apply", Refusals: r.plan.Refusals}
	}
	var reasons []Refusal
	err := r.persist(ctx, "looking at the databases", func(ctx context.Context) error {
		f := &flight{run: r, begun: begun}
		for i, d := range append([]Database{target}, sources...) {
			if err := f.look(ctx, i, d); err != nil {
				return err
			}
		}
		if err := f.rights(ctx, sources); err != nil {
			return err
		}
		reasons = f.reasons
		return nil
	})
	if err == nil && len(reasons) > 0 {
		err = &RefusedError{Doing: "apply", Refusals: reasons}
	}
	return err
}

type flight struct {
	*run
	begun   bool
	reasons []Refusal
}

func (f *flight) refuse(database, table, format string, args ...any) {
	f.reasons = append(f.reasons, Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// look holds one database against the plan. The target is number 0.
func (f *flight) look(ctx context.Context, i int, d Database) error {
	s, err := openSource(ctx, d)
	if err != nil {
		return err
	}
	defer s.Close()
	want := f.plan.Target
	if i > 0 {
		want = f.plan.Sources[i-1]
	}
	if s.catalog.Engine != f.plan.Engine {
		f.refuse(d.Name, "", "it is %s, and the plan is for %s", s.catalog.Engine, f.plan.Engine)
		return nil
	}
	if s.schema() != want.Schema {
		f.refuse(d.Name, "", "its tables are not made as they were when the plan was made: plan again")
		return nil
	}
	if i == 0 {
		f.know(s)
	}
	if s.catalog.HasRegistry {
		if err := f.servers(ctx, i, d, want); err != nil {
			return err
		}
	}
	for _, t := range f.plan.Tables {
		content := t.Target
		if i > 0 {
			content = t.Sources[i-1]
		}
		if i == 0 && f.begun || s.table(t.Name) == nil {
			continue
		}
		n, err := s.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if n != content.Rows {
			f.refuse(d.Name, t.Name, "it has %d rows, and had %d when the plan was made: plan again", n, content.Rows)
		}
	}
	return nil
}

// servers holds the registry of a database against the plan. No server may
// run.
func (f *flight) servers(ctx context.Context, i int, d Database, want World) error {
	db, err := store.OpenReadOnly(ctx, d.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	now, err := db.Registry().Servers(ctx)
	if err != nil {
		return err
	}
	for _, reason := range held(now, f.plan.ID) {
		f.refuse(d.Name, "", "%s", reason)
	}
	if i == 0 && f.begun {
		merged := mergedServers(f.plan)
		now = slices.DeleteFunc(now, func(s store.Server) bool {
			return slices.ContainsFunc(merged, func(m store.Server) bool { return m.ID == s.ID && m.World == s.World && s.Role == store.RoleMerged })
		})
	}
	if reason := marksMoved(want, now); reason != "" {
		f.refuse(d.Name, "", "%s since the plan was made: plan again", reason)
	}
	return nil
}

// rights tries, without changing a row, whether the accounts may do what it
// takes.
func (f *flight) rights(ctx context.Context, sources []Database) error {
	if len(f.reasons) > 0 {
		return nil
	}
	l := f.target
	d := l.dialect()
	probe := func(table, statement string) error {
		_, err := l.exec(ctx, "probe", statement, false)
		if denied(err) {
			f.refuse(l.Name, table, "the account lacks a right: %v", err)
			return nil
		}
		return err
	}
	for _, t := range f.plan.Tables {
		table, columns := d.quote(t.Name), d.quoteAll(t.Columns)
		statements := []string{
			"INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0",
			"DELETE FROM " + table + " WHERE 1 = 0", // for an undo
		}
		if t.Target.Sum != t.Target.After {
			name := d.quote(t.Columns[0])
			statements = append(statements, "UPDATE "+table+" SET "+name+" = "+name+" WHERE 1 = 0")
		}
		for _, s := range statements {
			if err := probe(t.Name, s); err != nil {
				return err
			}
		}
	}
	if f.registry {
		const registry = store.RegistryTable
		for _, s := range []string{
			"UPDATE " + registry + " SET epoch = epoch WHERE 1 = 0",
			"INSERT INTO " + registry + " SELECT * FROM " + registry + " WHERE 1 = 0",
			"DELETE FROM " + registry + " WHERE 1 = 0",
		} {
			if err := probe("", s); err != nil {
				return err
			}
		}
	}
	ids, err := f.manifest.others(ctx)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		f.refuse(l.Name, "", "the merge %s was begun there and not completed: go on with it or undo it first", strings.Join(ids, ", "))
	}
	l.drop()
	for i, w := range f.plan.Sources {
		if !w.Fence {
			continue
		}
		db, err := store.Open(ctx, sources[i].DSN)
		if err == nil {
			_, err = db.Exec(ctx, "UPDATE "+store.RegistryTable+" SET epoch = epoch WHERE 1 = 0")
			db.Close()
		}
		if denied(err) || errors.Is(err, store.ErrReadOnly) {
			f.refuse(w.Name, "", "the account may not write the fence into its registry: give it the right to UPDATE %s, or plan without a fence: %v", store.RegistryTable, err)
		} else if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
	}
	return nil
}

// denied reports whether the account has no right to do something, or the
// server takes no writes.
func denied(err error) bool {
	if errors.Is(err, store.ErrReadOnly) {
		return true
	}
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains([]uint16{
		1044, // no access to the database
		1142, // no such right on the table
		1143, // or the column
		1227, // needs a global right
		1370, // or one on a routine
	}, e.Number)
}
