package check

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// sharedTasks doubt columns that are declared shared and whose table says what their values mean: if 1 is stone here and dirt
// there, they are not the same in every world. Only dictionaries are judged, tables of nothing but numbers and their names.
func sharedTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		if f.Same[table] {
			continue
		}
		_, model := f.ModelOf(table)
		if number, name := dictionaryOf(f, model); number != "" {
			tasks = append(tasks, Task{Code: verdict.CodeTableDiffers, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
				result, err := compareMeanings(ctx, f, r, table, number, name)
				if errors.Is(err, errNoDictionary) {
					return Outcome{}, nil
				}
				return Found(result), err
			}})
		}
	}
	return tasks
}

// dictionaryOf returns the column of a table that is declared shared and the text beside it, if the table has nothing else but
// a key that the database counts.
func dictionaryOf(f *Facts, t *catalog.Table) (number, name string) {
	for _, c := range t.Columns {
		switch shared := f.Declared.Role(t.Name, c.Name).Kind == rules.RoleShared; {
		case number == "" && shared && c.Kind == catalog.KindInteger:
			number = c.Name
		case name == "" && !shared && (c.Kind == catalog.KindText || c.Kind == catalog.KindBytes) && c.Opaque == "" && !c.IsID:
			name = c.Name
		case t.AutoIncrement != nil && t.AutoIncrement.Column == c.Name:
		default:
			return "", ""
		}
	}
	if name == "" {
		return "", ""
	}
	return number, name
}

// mostMeanings is how many values of a dictionary are compared.
const mostMeanings = 1 << 16

// errNoDictionary ends the reading of a table whose values are not each of one name.
var errNoDictionary = errors.New("no dictionary")

// compareMeanings compares the names of the values that several databases have. It fails with errNoDictionary if the table is none.
func compareMeanings(ctx context.Context, f *Facts, r *Reader, table, number, name string) (verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeTableDiffers, Table: table, Subject: number, Columns: []string{number}}
	first, of := make(map[string]string), ""
	for db, t := range f.Having(table) {
		if t.Column(number) == nil || t.Column(name) == nil {
			continue
		}
		names, unread, err := meanings(ctx, r, db, table, number, name)
		switch {
		case err != nil:
			return result, err
		case unread != "":
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: unread})
			continue
		}
		if result.Read += int64(len(names)); of == "" {
			first, of = names, db.Name
			continue
		}
		both, differ, example := 0, 0, ""
		for v, here := range names {
			there, known := first[v]
			if !known {
				continue
			}
			if both++; here != there {
				if differ++; example == "" || v < example {
					example = v
				}
			}
		}
		if differ > 1 && 2*differ > both {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s is declared shared, but %d of %s do not mean the same as in %s: %s is %s here and %s there. Declare the columns that refer to it as references, and its keys as a [[merge.space]]",
				rules.Place(table, number), differ, printable.Count(int64(both), "value", "values"), of, example, printable.Text(names[example]), printable.Text(first[example]))})
		}
	}
	result.Without("its values have the same names in every database")
	return result, nil
}

// meanings reads the names of values. It fails with errNoDictionary if a value has two, or two values have one.
func meanings(ctx context.Context, r *Reader, db *rules.Database, table, number, name string) (names map[string]string, unread string, err error) {
	names = make(map[string]string)
	values := make(map[string]string) // by name
	s := r.Stream(db, verdict.CodeTableDiffers, 0, catalog.Scan{Table: table, Carry: []string{number, name}, Unsorted: true})
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			v, n := string(b.Carry[0].At(row)), string(b.Carry[1].At(row))
			before, known := names[v]
			other, named := values[n]
			if known && before != n || named && other != v || len(names) > mostMeanings {
				s.Broken = errNoDictionary
				return
			}
			names[v], values[n] = n, v
		}
	})
	unread, err = unreadable(s.Drain(ctx))
	return names, unread, err
}
