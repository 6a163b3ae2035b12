package store_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/starter"
)

// Each pair is this package against the same work over database/sql by hand:
// one prepared statement, and each column named.

func benchOnBoth(b *testing.B, bench func(b *testing.B, db *store.DB)) {
	b.Run("db=sqlite", func(b *testing.B) { bench(b, withTables(b, "sqlite:"+b.TempDir()+"/x.db")) })
	b.Run("db=mysql", func(b *testing.B) { bench(b, withTables(b, "mysql:"+servertest.DSN(b))) })
}

func BenchmarkInsertMany(b *testing.B) {
	const n, rowsPerStatement = 20_000, 1000
	benchOnBoth(b, func(b *testing.B, db *store.DB) {
		owner := player(1)
		must(b, starter.Players.Insert(b.Context(), db, owner))
		rows := items(n, owner)
		run := func(b *testing.B, insert func()) {
			for b.Loop() {
				insert()
				b.StopTimer()
				exec(b, db, "DELETE FROM items")
				b.StartTimer()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		}
		b.Run("by=store", func(b *testing.B) {
			run(b, func() { must(b, starter.Items.Insert(b.Context(), db, rows...)) })
		})
		b.Run("by=hand", func(b *testing.B) {
			run(b, func() {
				tx, err := db.Pool().BeginTx(b.Context(), nil)
				must(b, err)
				defer tx.Rollback()
				insert, err := tx.PrepareContext(b.Context(), "INSERT INTO items (id, owner_id, template, count, created_at) VALUES "+
					strings.Repeat(",(?,?,?,?,?)", rowsPerStatement)[1:])
				must(b, err)
				args := make([]any, 0, 5*rowsPerStatement)
				for i := 0; i < n; i += rowsPerStatement {
					args = args[:0]
					for _, r := range rows[i : i+rowsPerStatement] {
						args = append(args, r.ID, r.Owner, r.Template, r.Count, r.CreatedAt)
					}
					_, err := insert.ExecContext(b.Context(), args...)
					must(b, err)
				}
				must(b, tx.Commit())
			})
		})
	})
}

func fillItems(b *testing.B, db *store.DB, n int) []entity.Item {
	owner := player(1)
	must(b, starter.Players.Insert(b.Context(), db, owner))
	rows := items(n, owner)
	must(b, starter.Items.Insert(b.Context(), db, rows...))
	return rows
}

func BenchmarkGet(b *testing.B) {
	benchOnBoth(b, func(b *testing.B, db *store.DB) {
		rows := fillItems(b, db, 20_000)
		b.Run("by=store", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				want := rows[rand.IntN(len(rows))]
				if got, err := starter.Items.Get(b.Context(), db, want.ID); err != nil || got != want {
					b.Fatal(got, err)
				}
			}
		})
		b.Run("by=hand", func(b *testing.B) {
			b.ReportAllocs()
			get, err := db.Pool().PrepareContext(b.Context(), "SELECT id, owner_id, template, count, created_at FROM items WHERE id = ?")
			must(b, err)
			defer get.Close()
			for b.Loop() {
				want := rows[rand.IntN(len(rows))]
				var got entity.Item
				err := get.QueryRowContext(b.Context(), want.ID).Scan(&got.ID, &got.Owner, &got.Template, &got.Count, &got.CreatedAt)
				if err != nil || got != want {
					b.Fatal(got, err)
				}
			}
		})
	})
}

func BenchmarkStream(b *testing.B) {
	const n = 60_000
	benchOnBoth(b, func(b *testing.B, db *store.DB) {
		fillItems(b, db, n)
		done := func(b *testing.B, seen int) {
			if seen != n*b.N {
				b.Fatalf("%d rows", seen)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		}
		b.Run("by=store", func(b *testing.B) {
			seen := 0
			for b.Loop() {
				for _, err := range starter.Items.Each(b.Context(), db, "TRUE") {
					must(b, err)
					seen++
				}
			}
			done(b, seen)
		})
		b.Run("by=hand", func(b *testing.B) {
			seen := 0
			for b.Loop() {
				rows, err := db.Pool().QueryContext(b.Context(), "SELECT id, owner_id, template, count, created_at FROM items ORDER BY id")
				must(b, err)
				for rows.Next() {
					var r entity.Item
					must(b, rows.Scan(&r.ID, &r.Owner, &r.Template, &r.Count, &r.CreatedAt))
					seen++
				}
				must(b, rows.Err())
			}
			done(b, seen)
		})
	})
}
