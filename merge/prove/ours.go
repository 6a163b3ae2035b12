package prove

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/catalog"
	"mergesafe/merge/change"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// proveOurs looks for what the game and the operator rely on beside the rows of the game: the servers that the
// registry lists and their gate, short numbers, and the view of the keys that moved.
func proveOurs(ctx context.Context, p *change.Proving) error {
	return p.Retry(ctx, "reading the registry of the new database", func(ctx context.Context) error {
		wrong, err := wrongOfOurs(ctx, p)
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
	for _, table := range []string{sqldb.SchemaTable, worldregistry.Table, sqldb.NumbersTable} {
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
		wrong = append(wrong, missingServers(p, now)...)
	}
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
			wrong = append(wrong, fmt.Sprintf("the view %s is missing", record.KeysView))
		}
	}
	return wrong, nil
}

// missingServers compares the registry with the worlds'. Once it is open, servers may have run there.
func missingServers(p *change.Proving, now []worldregistry.Server) (missing []string) {
	open := p.Manifest.Left == record.StateOpen
	for i, w := range p.Plan.Worlds {
		for _, s := range w.Servers {
			at := slices.IndexFunc(now, func(n worldregistry.Server) bool { return n.ID == s.Server && n.World == s.World })
			switch {
			case at < 0:
				missing = append(missing, fmt.Sprintf("its registry does not list server %s of %q", s.Server, w.Name))
			case i == 0 && s.Own:
				missing = append(missing, wrongOwn(p.Plan.ID, s, &now[at], open)...)
			case now[at].Role != worldregistry.RoleMerged:
				missing = append(missing, fmt.Sprintf("its registry lists server %s of %q as %q", s.Server, w.Name, now[at].Role))
			}
		}
	}
	return missing
}

// wrongOwn says how a server of the first world is not as it should be.
func wrongOwn(merge string, s catalog.Server, now *worldregistry.Server, open bool) (wrong []string) {
	gate, _ := worldregistry.FenceOf(now.Holder)
	switch {
	case now.Role != worldregistry.RoleOwn:
		wrong = append(wrong, fmt.Sprintf("its registry lists server %s as %q", s.Server, now.Role))
	case now.Reserved < s.Reserved || !open && now.Reserved != s.Reserved:
		wrong = append(wrong, fmt.Sprintf("the mark of server %s is %d, and was %d in its world", s.Server, now.Reserved, s.Reserved))
	case !open && (gate.Merge != merge || !gate.Here):
		wrong = append(wrong, fmt.Sprintf("server %s has no fence of this merge: the game could be started there", s.Server))
	}
	return wrong
}

// missingNumbers compares the short numbers with those of the first world.
func missingNumbers(ctx context.Context, p *change.Proving) (missing []string, err error) {
	var was [][]any
	err = p.Worlds[0].Rows(ctx, "SELECT server_id, name, next_number FROM "+sqldb.NumbersTable, false, nil, func(row []any) (bool, error) {
		was = append(was, slices.Clone(row))
		return true, nil
	})
	for _, row := range was {
		var n int64
		if err == nil {
			n, err = p.New.Number(ctx, "SELECT COUNT(*) FROM "+sqldb.NumbersTable+" WHERE server_id = ? AND name = ? AND next_number >= ?", false, row...)
		}
		if err == nil && n == 0 {
			missing = append(missing, fmt.Sprintf("the short numbers %q of server %s are behind those of its world", world.Text(row[1]), world.Text(row[0])))
		}
	}
	return missing, err
}
