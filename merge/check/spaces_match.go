package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// maxTwice is how many of them are named.
const maxTwice = 5

// readMatched finds the rows that are the same thing. A database without the table is nil.
func readMatched(ctx context.Context, sources []catalog.Source, tables []*catalog.Table, by *rules.MatchedBy) (*matchedRows, error) {
	found := new(matchedRows)
	model := cmp.Or(tables...)
	var scans []SourceScan
	var dbs []int
	for i, t := range tables {
		if t == nil {
			continue
		}
		if why := incomparable(t, by.Columns, &rules.Database{Name: sources[0].Name()}, model, by.Columns); why != "" {
			found.Gaps = append(found.Gaps, verdict.Gap{World: sources[i].Name(), Reason: why})
			return found, nil
		}
		scans = append(scans, SourceScan{Source: sources[i], Scan: catalog.Scan{Table: by.Table, Order: catalog.OrderBy(by.Columns, model), Carry: append(slices.Clone(by.Columns), by.Key), SkipNull: true}})
		dbs = append(dbs, i)
	}
	for rows, err := range EqualRows(ctx, scans, len(by.Columns)) {
		if unsupported, is := errors.AsType[*catalog.UnsupportedError](err); is {
			name := ""
			if read, is := errors.AsType[*catalog.ReadError](err); is {
				name = read.World
			}
			found.Gaps = append(found.Gaps, verdict.Gap{World: name, Reason: unsupported.Error()})
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows[0].Carry[:len(by.Columns)], func(v []byte) bool { return len(bytes.Trim(v, " \x00")) == 0 }) {
			continue
		}
		group := make([]matchedRow, len(rows))
		twice := ""
		for i, r := range rows {
			group[i].DB = dbs[r.From]
			var ok bool
			if group[i].Key, ok = keys.ParseInteger(r.Carry[len(by.Columns)]); !ok {
				return nil, fmt.Errorf("%s of %q has a value that is not an integer", rules.Place(by.Table, by.Key), sources[group[i].DB].Name())
			}
			if i > 0 && group[i].DB == group[i-1].DB {
				twice = fmt.Sprintf("%s of %s, keys %s and %s", naturalKey(r.Carry[:len(by.Columns)]), sources[group[i].DB].Name(), group[i-1].Key, group[i].Key)
			}
		}
		if twice != "" {
			if found.Many++; len(found.Twice) < maxTwice {
				found.Twice = append(found.Twice, twice)
			}
			continue
		}
		found.Groups = append(found.Groups, group)
	}
	return found, nil
}

func naturalKey(values [][]byte) string {
	all := slice.Map(values, func(v []byte) string { return printable.Text(fmt.Sprintf("%q", stream.Cut(v))) })
	return strings.Join(all, ", ")
}

// readMatches reads the rows of all spaces that are matched.
func (r *spaceReader) readMatches(ctx context.Context) error {
	r.found.matched = make(map[*rules.KeySpace]*matchedRows)
	for _, s := range r.Facts.Moving.Spaces {
		if s.By == nil {
			continue
		}
		var sources []catalog.Source
		var tables []*catalog.Table
		for _, db := range r.Facts.DBs {
			sources, tables = append(sources, db.Opened), append(tables, db.Tables[s.By.Table])
		}
		var err error
		if r.found.matched[s], err = readMatched(ctx, sources, tables, s.By); err != nil {
			return err
		}
	}
	return nil
}

// match finds what becomes of the keys that are matched, when the offsets are known. It says
// what prevents it.
func (f chooser) match(k *Rekeyed) (o Outcome) {
	k.Pairs = make(map[*rules.KeySpace]map[*rules.Database]*keys.Pairs)
	for _, s := range f.Moving.Spaces {
		k.Pairs[s] = make(map[*rules.Database]*keys.Pairs)
		result := verdict.Result{Code: verdict.CodeKeySpace, Table: spaceTable(f.Facts, s.Name), Subject: s.Name}
		switch matched := f.read.matched[s]; {
		case s.Map != nil:
			for _, db := range rules.OthersOf(f.Resolved) {
				k.Pairs[s][db] = s.Map.Matched[db.Name]
			}
		case matched == nil:
			continue
		case len(matched.Gaps) > 0:
			result.Gaps, result.Message = matched.Gaps, "the values of "+s.By.String()+" cannot be compared, so that no rows can be matched"
			o.Add(Found(result))
			continue
		case matched.Many > 0:
			result.Table, result.Subject, result.Columns, result.Count = s.By.Table, catalog.ColumnList(s.By.Columns), s.By.Columns, matched.Many
			result.Message = fmt.Sprintf("%s more than once in one database, as the first world compares, so they do not identify the rows: %s",
				printable.Count(matched.Many, "value occurs", "values occur"), strings.Join(matched.Twice, "; "))
			result.Next = []string{"give all but one of the rows other values; or match by more columns; or remove match from the space"}
			o.Add(Found(result))
			continue
		default:
			all, err := matched.Pairs(len(f.DBs), func(i int) uint64 { return k.Of[s][f.DBs[i]] })
			if err != nil {
				result.Count, result.Message = 1, "match: "+err.Error()
				o.Add(Found(result))
				continue
			}
			for i, db := range f.DBs {
				if k.Pairs[s][db] = all[i]; all[i].Len() > maxMatched {
					result.Count = int64(all[i].Len())
					result.Message = fmt.Sprintf("%s of %s would be matched, and at most %s can be", printable.Count(result.Count, "key", "keys"), db.Name, printable.Number(maxMatched))
					o.Add(Found(result))
				}
			}
		}
	}
	for _, at := range f.Moving.InOrder() {
		for _, db := range f.DBs {
			o.Add(f.matchedFits(k, f.Moving.Columns[at], db))
		}
	}
	return o
}

// matchedFits says which values of a column would become what it does not take, or what means
// nobody.
func (f chooser) matchedFits(k *Rekeyed, c *rules.MovedColumn, db *rules.Database) Outcome {
	for i, of := range c.Cases {
		pairs := k.Pairs[of.Space][db]
		if of.Ref == nil || pairs.Len() == 0 || len(f.read.in[db].rows[c]) <= i {
			continue
		}
		most, bounded := mostOfCase(f.Resolved, c, i)
		moved := f.read.in[db].rows[c][i].Moved
		for old, image := range pairs.All() {
			if !moved.Meets(keys.Range{Low: old, High: old, Any: true}) {
				continue
			}
			result := verdict.Result{Code: verdict.CodeKeySpace, Table: c.Table, Subject: c.Column, Columns: []string{c.Column}, Count: 1}
			switch {
			case of.Ref.None.HasInteger(old):
				continue
			case of.Ref.None.HasInteger(image):
				result.Message = fmt.Sprintf("%s of %s is matched with %s, which is declared to refer to no row there", old, db.Name, image)
			case bounded && most.Less(image):
				result.Message = fmt.Sprintf("%s of %s is matched with %s, and the column ends at %s", old, db.Name, image, most)
				result.Next = []string{"give " + rules.Place(c.Table, c.Column) + " a larger type in all databases"}
			default:
				continue
			}
			return Found(result)
		}
	}
	return Outcome{}
}

// rematched are the keys of a space that are matched now.
type rematched struct {
	Pairs map[string]*keys.Pairs // by world; nil for none
	Twice []string               // natural keys that a database has more than once, with their rows; the first ones
}

// Matches works out again which keys are matched, by space and world. The plan says how. Of a space that does not move by [rules.Space.Match] it says nothing.
func Matches(ctx context.Context, sources []catalog.Source, planned *verdict.Rekeying) (map[string]rematched, error) {
	all := make(map[string]rematched)
	catalogs := make([]*catalog.Catalog, len(sources))
	for i := range planned.Spaces {
		s := &planned.Spaces[i]
		if s.By == nil {
			continue
		}
		tables := make([]*catalog.Table, len(sources))
		for k, source := range sources {
			if catalogs[k] == nil {
				var err error
				if catalogs[k], err = source.Catalog(ctx); err != nil {
					return nil, err
				}
			}
			if at := slices.IndexFunc(catalogs[k].Tables, func(t catalog.Table) bool { return t.Name == s.By.Table }); at >= 0 {
				tables[k] = &catalogs[k].Tables[at]
			}
		}
		found, err := readMatched(ctx, sources, tables, s.By)
		if err != nil {
			return nil, err
		}
		if len(found.Gaps) > 0 {
			return nil, fmt.Errorf("merge: %q: the values of %s cannot be compared: %s", found.Gaps[0].World, s.By, found.Gaps[0].Reason)
		}
		pairs, err := found.Pairs(len(sources), func(k int) uint64 { return planned.Offset(s.Name, sources[k].Name()) })
		if err != nil {
			return nil, err
		}
		again := rematched{make(map[string]*keys.Pairs), found.Twice}
		for k, p := range pairs {
			again.Pairs[sources[k].Name()] = p
		}
		all[s.Name] = again
	}
	return all, nil
}

// matchedAction says what to do about rows that have one key since others are matched; "" if
// none of its columns names such.
func matchedAction(f *Facts, table string, key []string) string {
	for _, name := range key {
		moved := f.Rekeyed.moved(table, name)
		if moved == nil || f.Combined[table] != nil {
			continue
		}
		if s := moved.Cases[0].Space; f.Rekeyed.matchesAny(s) {
			return fmt.Sprintf("%s refers to rows of %s that are matched (match), so rows of several worlds now share a key: say how they are merged, [[merge.table]] tables = [%s], policy = %q",
				name, s.Name, printable.TOML(table), rules.PolicyCombine)
		}
	}
	return ""
}
