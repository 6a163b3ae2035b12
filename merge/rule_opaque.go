package merge

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// opaqueRule reports the columns that may hold IDs in a form of their own.
func opaqueRule() rule {
	return rule{
		codes: []string{CodeColumnOpaque},
		tasks: opaqueTasks,
	}
}

// opaqueTasks come after those of other rules, for they look at rows that these
// came across.
func opaqueTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		for _, column := range f.opaque(table) {
			declared := f.declared.role(table, column).kind
			if !f.wants(CodeColumnOpaque, table, column) || declared != roleOpen && declared != roleUndecided {
				continue
			}
			tasks = append(tasks, task{taskID{code: CodeColumnOpaque, columns: idOf(table, column)}, nil, func(ctx context.Context, r *reader) (outcome, error) {
				values, err := r.lookInto(ctx, table, column)
				if err != nil {
					return outcome{}, err
				}
				return found(judgeOpaque(f, openReader{reader: r, code: CodeReferenceUndeclared}, table, column, values)), nil
			}})
		}
	}
	return tasks
}

// judgeOpaque says that a column cannot be judged, and guesses from a few values
// whether there is something in it to be judged. The guess never changes the
// verdict.
func judgeOpaque(f *facts, r openReader, table, column string, values map[*database][]string) Result {
	result := Result{Code: CodeColumnOpaque, Table: table, Subject: column, Columns: []string{column}, Message: "may hold keys that no rule can read"}
	var looked, alike int64
	for _, db := range f.dbs {
		reason := db.opaque(table, column)
		if reason == "" {
			continue
		}
		before, keys := alike, ""
		for _, v := range values[db] {
			looked++
			of := r.guessKeys(db, v)
			if of != "" || holdsID(f, db, v) {
				alike++
			}
			keys = cmp.Or(keys, of)
		}
		switch {
		case keys != "":
			reason += ", and seems to hold keys of " + keys + ": a guess from a few rows"
		case alike > before:
			reason += ", and seems to hold IDs: a guess from a few rows"
		}
		result.Gaps = append(result.Gaps, Gap{db.name, reason})
	}
	if looked > 0 {
		result.Message += fmt.Sprintf("; a guess: %s of %s read contain what looks like one", printable.Number(alike), printable.Count(looked, "value", "values"))
	}
	return result
}

// opaque says why a column is opaque in the database, or returns "".
func (db *database) opaque(table, column string) string {
	if t := db.tables[table]; t != nil {
		if col := t.column(column); col != nil {
			return col.Opaque
		}
	}
	return ""
}

var hexRun = regexp.MustCompile(`[0-9a-fA-F]{20,}`)

// holdsID guesses whether a value, as Row shows it, has an ID in it that a server of
// the database may have made.
func holdsID(f *facts, db *database, value string) bool {
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
			if _, listed := db.listed[id.Server()]; listed && id.Millis() <= f.future(db) {
				return true
			}
		}
	}
	return false
}
