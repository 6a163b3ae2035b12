package job

import (
	"context"
	"fmt"

	"mergesafe/merge/world"
)

// SetCounter makes next the next value of a counter, or the first value above
// the rows of the table.
func SetCounter(ctx context.Context, c *world.Connection, table, column string, next uint64) error {
	d := c.Dialect()
	next = max(next, 1)
	if d.MySQL() { // looks at the rows by itself
		return c.Making(ctx, func() error {
			_, err := c.Exec(ctx, "counter", fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", d.Quote(table), next), false)
			return err
		})
	}
	// Only tables that were declared AUTOINCREMENT count beyond their rows.
	counts, err := c.Number(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'", false)
	if err != nil || counts == 0 {
		return err
	}
	n, err := c.Exec(ctx, "counter", "UPDATE sqlite_sequence SET seq = MAX(?, (SELECT COALESCE(MAX("+d.Quote(column)+"), 0) FROM "+d.Quote(table)+")) WHERE name = ?", false,
		int64(next-1), table)
	if err == nil && n == 0 && next > 1 { // it never had a row
		_, err = c.Exec(ctx, "counter", "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", false, table, int64(next-1))
	}
	if err == nil && next == 1 {
		_, err = c.Exec(ctx, "counter", "DELETE FROM sqlite_sequence WHERE seq = 0 AND name = ?", false, table)
	}
	return err
}
