package prove

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/change"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// proveOurs looks for what the game and the operator rely on beside the rows of the game: the servers that the
// registry lists and their gate, short numbers, the history of earlier merges, and the view of the keys that moved.
func proveOurs(ctx context.Context, p *change.Proving, found []tableRead) error {
	return p.Retry(ctx, "reading the registry of the new database", func(ctx context.Context) error {
		wrong, err := wrongOfOurs(ctx, p)
		if err != nil {
			return err
		}
		wrote, err := p.Manifest.Wrote(ctx) // which undo compares with the rows
		for i, t := range p.Plan.Tables {
			if should := found[i].should(&t); found[i].now.Sum == should && wrote[t.Name] != should { // else the rows are told
				wrong = append(wrong, fmt.Sprintf("the table %s does not have what the merge wrote to %s", record.ProgressTable, t.Name))
			}
		}
		for _, what := range wrong {
			p.Findings = append(p.Findings, plan.Refusal{Source: p.New.Name, Reason: what})
		}
		return err
	})
}

func wrongOfOurs(ctx context.Context, p *change.Proving) (wrong []string, err error) {
	had, err := p.Worlds[0].Texts(ctx, p.Worlds[0].Dialect().TableNames())
	if err != nil {
		return nil, err
	}
	have, err := p.New.Texts(ctx, p.New.Dialect().TableNames())
	if err != nil {
		return nil, err
	}
	had = append(had, record.MergesTable, record.RenamesTable) // which every merge makes
	for _, table := range []string{sqldb.SchemaTable, worldregistry.Table, sqldb.NumbersTable, record.MergesTable, record.RenamesTable} {
		if slices.Contains(had, table) && !slices.Contains(have, table) {
			wrong = append(wrong, fmt.Sprintf("the table %s is missing", table))
		}
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	triggers := "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'"
	if p.New.Dialect().MySQL() {
		triggers = "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()"
	}
	err = p.New.Rows(ctx, triggers, false, nil, func(row []any) (bool, error) {
		if table := world.Text(row[1]); sqldb.Ours(table) {
			wrong = append(wrong, fmt.Sprintf("the trigger %s of %s is not of the merge: drop it", world.Text(row[0]), table))
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if slices.Contains(had, worldregistry.Table) {
		now, err := record.Servers(ctx, p.New.Database)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, wrongServers(p, now)...)
	}
	if slices.Contains(had, sqldb.SchemaTable) {
		marks, err := missingMarks(ctx, p)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, marks...)
	}
	history, err := wrongHistory(ctx, p)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, history...)
	if slices.Contains(had, sqldb.NumbersTable) {
		numbers, err := missingNumbers(ctx, p)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, numbers...)
	}
	if p.Plan.Rekey != nil {
		query := "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'view' AND name = ?"
		if p.New.Dialect().MySQL() {
			query = "SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
		}
		n, err := p.New.Number(ctx, query, false, record.KeysView)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return append(wrong, fmt.Sprintf("the view %s is missing", record.KeysView)), nil
		}
		matches, err := record.HasMatches(ctx, p.New)
		if err != nil {
			return nil, err
		}
		var shows [2][]string // a server writes the text of a view in its own way
		for i, query := range []string{"SELECT * FROM " + record.KeysView, record.KeysMoved(p.New.Dialect(), matches)} {
			err := p.New.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
				shows[i] = append(shows[i], strings.Join(slice.Map(row, world.Text), "\x00"))
				return true, nil
			})
			if err != nil {
				return nil, err
			}
			slices.Sort(shows[i])
		}
		if !slices.Equal(shows[0], shows[1]) {
			wrong = append(wrong, fmt.Sprintf("the view %s does not show what the merge recorded", record.KeysView))
		}
	}
	return wrong, nil
}

// wrongServers compares the registry with the worlds'. Once it is open, servers may have run there, and others been added.
func wrongServers(p *change.Proving, now []worldregistry.Server) (wrong []string) {
	open := p.Manifest.Left == record.StateOpen
	for i, w := range p.Plan.Worlds {
		for _, s := range w.Servers {
			at := slices.IndexFunc(now, func(n worldregistry.Server) bool { return n.ID == s.Server && n.World == s.World })
			if at < 0 {
				wrong = append(wrong, fmt.Sprintf("its registry does not list server %s of %q", s.Server, w.Name))
				continue
			}
			role := worldregistry.RoleMerged
			if i == 0 && s.Own {
				role = worldregistry.RoleOwn
			}
			gate, _ := worldregistry.FenceOf(now[at].Holder)
			switch is := now[at]; {
			case is.Role != role:
				wrong = append(wrong, fmt.Sprintf("its registry lists server %s of %q as %q", s.Server, w.Name, is.Role))
			case is.Reserved < s.Reserved || !open && is.Reserved != s.Reserved:
				wrong = append(wrong, fmt.Sprintf("the mark of server %s is %d, and was %d in %q", s.Server, is.Reserved, s.Reserved, w.Name))
			case role == worldregistry.RoleOwn && !open && (gate.Merge != p.Plan.ID || !gate.Here):
				wrong = append(wrong, fmt.Sprintf("server %s has no fence of this merge: the game could be started there", s.Server))
			}
			now = slices.Delete(now, at, at+1)
		}
	}
	for _, n := range now {
		if !open {
			wrong = append(wrong, fmt.Sprintf("its registry lists server %s of world %s, which no world had", n.ID, n.World))
		}
	}
	return wrong
}

// missingMarks compares the parts that the database has, and their versions, with those of the first world.
func missingMarks(ctx context.Context, p *change.Proving) (missing []string, err error) {
	return missingRows(ctx, p, "SELECT application, version FROM "+sqldb.SchemaTable,
		"SELECT COUNT(*) FROM "+sqldb.SchemaTable+" WHERE application = ? AND version >= ?", func(row []any) string {
			return fmt.Sprintf("the table %s does not say that there is %s, version %s", sqldb.SchemaTable, world.Text(row[0]), world.Text(row[1]))
		})
}

// wrongHistory compares the earlier merges that the new database lists, and how many renames of each merge, with those of the
// worlds and of the plan.
func wrongHistory(ctx context.Context, p *change.Proving) (wrong []string, err error) {
	merges, renames := make(map[string]string), map[string]string{p.Plan.ID: fmt.Sprint(len(p.Plan.Renames))}
	if len(p.Plan.Renames) == 0 {
		delete(renames, p.Plan.ID)
	}
	for i, w := range p.Worlds {
		had, err := w.Texts(ctx, w.Dialect().TableNames())
		if err == nil && slices.Contains(had, record.MergesTable) {
			err = addTexts(ctx, w, merges, record.AllMerges(merged), func(row []any) {
				if world.Text(row[3]) == "" { // it made this world
					row[3] = p.Plan.Path(i)
				}
			})
		}
		if err == nil && slices.Contains(had, record.RenamesTable) {
			err = addTexts(ctx, w, renames, countRenames, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, of := range []struct {
		table, query string
		want         map[string]string
	}{
		{record.MergesTable, "SELECT " + strings.Join(merged, ", ") + " FROM " + record.MergesTable, merges},
		{record.RenamesTable, countRenames, renames},
	} {
		now := make(map[string]string)
		if err := addTexts(ctx, p.New, now, of.query, nil); err != nil {
			return nil, err
		}
		if !maps.Equal(now, of.want) {
			wrong = append(wrong, fmt.Sprintf("the table %s does not have the rows that the merge wrote", of.table))
		}
	}
	return wrong, nil
}

// merged are the columns of a merge on record.
var merged = []string{"id", "plan", "CAST(began AS CHAR)", "later"}

const countRenames = "SELECT merge_id, COUNT(*) FROM " + record.RenamesTable + " GROUP BY merge_id"

// addTexts adds the rows that a query returns to those that are there, by their first column. edit, unless nil, changes each.
func addTexts(ctx context.Context, on *world.Connection, to map[string]string, query string, edit func(row []any)) error {
	found := make(map[string]string)
	err := on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		if edit != nil {
			edit(row)
		}
		found[world.Text(row[0])] = strings.Join(slice.Map(row[1:], world.Text), "\x00")
		return true, nil
	})
	maps.Copy(found, to) // what an earlier world had is there as that had it
	maps.Copy(to, found)
	return err
}

// missingNumbers compares the short numbers with those of the first world. Once the new database is open, its servers give more of
// them, and may have begun others.
func missingNumbers(ctx context.Context, p *change.Proving) (missing []string, err error) {
	open := p.Manifest.Left == record.StateOpen
	than, say := "=", "the short numbers %q of server %s are not those of its world"
	if open {
		than, say = ">=", "the short numbers %q of server %s are behind those of its world, or have another check digit"
	}
	missing, err = missingRows(ctx, p, "SELECT server_id, name, next_number, check_digit FROM "+sqldb.NumbersTable,
		"SELECT COUNT(*) FROM "+sqldb.NumbersTable+" WHERE server_id = ? AND name = ? AND next_number "+than+" ? AND check_digit = ?", func(row []any) string {
			return fmt.Sprintf(say, world.Text(row[1]), world.Text(row[0]))
		})
	if err != nil || open {
		return missing, err
	}
	var n [2]int64
	for i, on := range []*world.Connection{p.Worlds[0], p.New} {
		if n[i], err = on.Number(ctx, "SELECT COUNT(*) FROM "+sqldb.NumbersTable, false); err != nil {
			return nil, err
		}
	}
	if n[0] != n[1] {
		missing = append(missing, fmt.Sprintf("the table %s has %s, and %d in %s", sqldb.NumbersTable, record.CountRows(n[1]), n[0], p.Worlds[0].Name))
	}
	return missing, nil
}

// missingRows says of which rows of the first world the new database counts none.
func missingRows(ctx context.Context, p *change.Proving, query, count string, say func(row []any) string) (missing []string, err error) {
	var was [][]any
	err = p.Worlds[0].Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		was = append(was, slices.Clone(row))
		return true, nil
	})
	for _, row := range was {
		var n int64
		if err == nil {
			n, err = p.New.Number(ctx, count, false, row...)
		}
		if err == nil && n == 0 {
			missing = append(missing, say(row))
		}
	}
	return missing, err
}
