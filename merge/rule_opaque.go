package merge

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// planOpaque reports the columns that may hold IDs in a form of their own. It
// comes last, for it looks at rows that the other rules came across.
func (c *checker) planOpaque() {
	for _, table := range c.tables {
		for _, column := range c.opaque(table) {
			if c.wants(CodeColumnOpaque, table, column) {
				c.plan(task{CodeColumnOpaque + " " + keyName(table, []string{column}), nil, func(ctx context.Context) error {
					return c.checkOpaque(ctx, table, column)
				}})
			}
		}
	}
}

// opaque returns the opaque columns of a table, by name.
func (c *checker) opaque(table string) []string {
	found := make(map[string]bool)
	for _, db := range c.dbs {
		if t := db.tables[table]; t != nil {
			for _, col := range t.Columns {
				if col.Opaque != "" {
					found[col.Name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// checkOpaque says that a column cannot be judged, and guesses from a few rows
// whether there is something in it to be judged. The guess never changes the
// verdict.
func (c *checker) checkOpaque(ctx context.Context, table, column string) error {
	r := Result{Code: CodeColumnOpaque, Table: table, Subject: column, Message: "may hold IDs that no rule can see"}
	var looked, alike int64
	for _, db := range c.dbs {
		t := db.tables[table]
		if t == nil || t.column(column) == nil || t.column(column).Opaque == "" {
			continue
		}
		reason := t.column(column).Opaque
		before := alike
		for _, m := range db.sampled[table] {
			fields, err := m.find(ctx)
			if err != nil {
				return err
			}
			for _, f := range fields {
				if f.Column == column && !f.Null && f.Value != "" {
					looked++
					if c.resemblesID(db, f.Value) {
						alike++
					}
				}
			}
		}
		if alike > before {
			reason += ", and seems to hold IDs: a guess from a few rows"
		}
		r.Gaps = append(r.Gaps, Gap{db.name, reason})
	}
	if looked > 0 {
		r.Message += fmt.Sprintf("; a guess: %s of %s looked into have what looks like one", printable.Number(alike), printable.Count(looked, "value", "values"))
	}
	c.add(r)
	return nil
}

// sampler returns what keeps a few rows of a stream to look into: some of the
// first, and ever fewer of those that follow.
func (c *checker) sampler(s *stream) func(*Batch) {
	const first = 8
	db, table := s.db, s.scan.Table
	db.sampled[table] = nil // of a pass that had to begin again
	batch := uint(0)
	return func(b *Batch) {
		batch++
		rows := 0
		switch {
		case batch == 1:
			rows = min(first, b.Len)
		case bits.OnesCount(batch) == 1:
			rows = 1
		}
		for row := range rows {
			db.sampled[table] = append(db.sampled[table], s.member(row*b.Len/rows))
		}
	}
}

var (
	hexRun     = regexp.MustCompile(`[0-9a-fA-F]{20,}`)
	namedAsKey = regexp.MustCompile(`(?i)(id|guid|owner)["']?\s*[:=,]\s*["']?[0-9]{2,}`)
)

// resemblesID guesses whether a value, as Row shows it, has an ID in it: one
// that a server of the database may have made, or a number that is named like
// one.
func (c *checker) resemblesID(db *database, value string) bool {
	if namedAsKey.MatchString(value) {
		return true
	}
	for _, run := range hexRun.FindAllString(strings.TrimPrefix(value, "0x"), -1) {
		raw, err := hex.DecodeString(run[:len(run)&^1])
		if err != nil {
			continue
		}
		for ; len(raw) >= gameid.Size; raw = raw[1:] {
			id, err := gameid.FromBytes(raw[:gameid.Size])
			if err != nil {
				continue
			}
			if _, listed := db.listed[id.Server()]; listed && id.Millis() <= c.future(db) {
				return true
			}
		}
	}
	return false
}
