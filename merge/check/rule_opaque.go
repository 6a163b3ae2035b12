package check

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/printable"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// opaqueRule reports the columns that may hold IDs in a form of their own.
var opaqueRule = Rule{
	Codes:  []string{verdict.CodeColumnOpaque},
	Single: true,
	Tasks:  opaqueTasks,
}

// opaqueTasks come after those of other rules, for they look at rows that these
// came across.
func opaqueTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		for _, column := range f.Opaque(table) {
			declared := f.Declared.Role(table, column).Kind
			if f.Same[table] || f.Follows(table, column) { // no row comes, or it repeats a name
				continue
			}
			if declared != rules.RoleOpen && declared != rules.RoleUndecided {
				continue
			}
			tasks = append(tasks, Task{Code: verdict.CodeColumnOpaque, Tables: nil, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
				values, err := r.LookInto(ctx, table, column)
				if err != nil {
					return Outcome{}, err
				}
				return Found(judgeOpaque(f, OpenReader{Reader: r, Code: verdict.CodeReferenceUndeclared}, table, column, values)), nil
			}})
		}
	}
	return tasks
}

// judgeOpaque says that a column cannot be judged, and guesses from a few values
// whether there is something in it to be judged. The guess never changes the
// verdict.
func judgeOpaque(f *Facts, r OpenReader, table, column string, values map[*rules.Database][]string) verdict.Result {
	result := verdict.Result{Code: verdict.CodeColumnOpaque, Table: table, Subject: column, Columns: []string{column}, Message: "may hold keys that no rule can read"}
	var looked, alike int64
	for _, db := range f.DBs {
		reason := db.Opaque(table, column)
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
		result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: reason})
	}
	at := printable.TOMLList(rules.Qualified(table, []string{column}))
	result.Next = []string{"if it refers to nothing: plain = " + at + " in [check]; " +
		"if it holds keys: [[check.reference]] at = " + at + ", to = ..., format = ... (mergecheck -h formats)"}
	if looked > 0 {
		result.Message += fmt.Sprintf("; a guess: %s of %s read contain what looks like one", printable.Number(alike), printable.Count(looked, "value", "values"))
	}
	return result
}

var hexRun = regexp.MustCompile(`[0-9a-fA-F]{20,}`)

// holdsID guesses whether a value, as Row shows it, has an ID in it that a server of
// the database may have made.
func holdsID(f *Facts, db *rules.Database, value string) bool {
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
			if _, listed := db.Listed[id.Server()]; listed && id.Millis() <= f.Future(db) {
				return true
			}
		}
	}
	return false
}
