package ledger

import (
	"context"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/rowio"
)

// The checkpoints of a merge that older code carried out have no column part: each is of
// all rows of a source in a table.

// dividedProgress reports whether the target's table of checkpoints has that column; true
// if there is no such table.
func (m *Manifest) dividedProgress(ctx context.Context) (bool, error) {
	found, err := m.Tables(ctx)
	if err != nil || !slices.Contains(found, ProgressTable) {
		return true, err
	}
	query := "SELECT COUNT(*) FROM pragma_table_info(?) WHERE name = 'part'"
	if m.On.Dialect().MySQL() {
		query = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND COLUMN_NAME = 'part'"
	}
	n, err := m.On.Texts(ctx, query, ProgressTable)
	return len(n) == 1 && n[0] != "0", err
}

// DivideProgress gives the table that column.
func (m *Manifest) DivideProgress(ctx context.Context) error {
	divided, err := m.dividedProgress(ctx)
	if err != nil || divided {
		return err
	}
	if m.On.Dialect().MySQL() {
		_, err := m.On.Exec(ctx, "create", "ALTER TABLE "+ProgressTable+" ADD COLUMN part INT NOT NULL DEFAULT 0 AFTER tab, DROP PRIMARY KEY, ADD PRIMARY KEY (merge_id, step, source, tab, part)", false)
		return err
	}
	return m.On.Tx(ctx, func() error {
		const older = ProgressTable + "_older"
		for _, s := range []string{
			"ALTER TABLE " + ProgressTable + " RENAME TO " + older,
			CreateTables(rowio.Dialect{Dialect: sqldb.SQLite})[1],
			"INSERT INTO " + ProgressTable + " SELECT merge_id, step, source, tab, 0, last_key, done_rows, row_sum, finished FROM " + older,
			"DROP TABLE " + older,
		} {
			if _, err := m.On.Exec(ctx, "create", s, false); err != nil {
				return err
			}
		}
		return nil
	})
}
