package change

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"math/big"
	"slices"
	"strings"

	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// The proof of the tables that are combined shares no formula with how they were: it reads all
// rows of the new database and of the worlds, puts the rows of each key together in memory, some
// keys at a time, and asks of each column whether the value is what its formula promises.

// rowsOfKey is all rows of one key: that of the new database, and those of the worlds in their order.
type rowsOfKey struct {
	now  []any
	came [][]any
}

// rowsTogether is the most rows that are in memory, more or less.
const rowsTogether = 250_000

// apart is a row in memory of its own: the rows of a page share theirs, so that one which is kept would keep them all.
func apart(row []any) []any {
	row = slices.Clone(row)
	for i, v := range row {
		switch v := v.(type) {
		case string:
			row[i] = strings.Clone(v)
		case []byte:
			row[i] = bytes.Clone(v)
		}
	}
	return row
}

// proveCombine makes the proof of all tables that are combined.
func proveCombine(ctx context.Context, p *Proving) error {
	return p.Retry(ctx, "reading the combined tables", func(ctx context.Context) (err error) {
		p.Proof.Combines, err = proofs(ctx, p.Run)
		return err
	})
}

func proofs(ctx context.Context, r *job.Run) (all []evidence.CombineProof, err error) {
	for _, i := range r.Plan.Combines() {
		t := &r.Plan.Tables[i]
		proof := evidence.CombineProof{Table: t.Name, Verdict: verdict.Pass, Columns: []evidence.ColumnProof{}}
		for _, c := range t.Combine.Columns {
			proof.Columns = append(proof.Columns, evidence.ColumnProof{Column: c.Column, Formula: c.Formula})
		}
		if err := proveCombinedTable(ctx, r, t, &proof); err != nil {
			return nil, err
		}
		if len(proof.Details) > 0 {
			proof.Verdict = verdict.Fail
		}
		all = append(all, proof)
	}
	return all, nil
}

func proveCombinedTable(ctx context.Context, r *job.Run, t *plan.Table, proof *evidence.CombineProof) error {
	l := r.Layouts[t.Name]
	seed, passes := maphash.MakeSeed(), uint64(2*t.Rows()/rowsTogether+1)
	for pass := range passes {
		if pass > 0 {
			r.Tally.Again(record.StepVerify, r.New.Name, t.Name, fmt.Sprintf("too many rows to compare at once: part %d of %d", pass+1, passes))
		}
		keys := make(map[string]*rowsOfKey)
		read := func(on *world.Connection, way world.Changer, take func(k *rowsOfKey, row []any)) error {
			return world.EachPage(ctx, on, l, func(page *world.Page) error {
				for _, row := range page.Rows {
					if _, err := way.Row(row); err != nil {
						return err
					}
					key, err := world.AppendKey(nil, l.KeyOf(row))
					if err != nil {
						return err
					}
					if maphash.Bytes(seed, key)%passes != pass {
						continue
					}
					k := keys[string(key)]
					if k == nil {
						k = new(rowsOfKey)
						keys[string(key)] = k
					}
					take(k, apart(row))
				}
				return r.Between(ctx)
			})
		}
		if err := read(r.New, nil, func(k *rowsOfKey, row []any) { k.now = row }); err != nil {
			return err
		}
		for i, world := range r.Worlds {
			if t.Worlds[i].Rows == 0 {
				continue // it may not have the table
			}
			if err := read(world, r.Changes.Of(world.Name, l), func(k *rowsOfKey, row []any) { k.came = append(k.came, row) }); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) { // so that the first problems are the same every time
			judgeCombined(proof, t, l, keys[key])
		}
	}
	return proveSums(ctx, r, t, proof)
}

// judgeCombined compares the row of a key with what it should be.
func judgeCombined(p *evidence.CombineProof, t *plan.Table, l *world.Layout, k *rowsOfKey) {
	rows := k.came
	switch {
	case k.now == nil:
		p.Wrong++
		p.Detail("row %s: is missing", l.KeyText(rows[0]))
		return
	case len(rows) == 0:
		p.Wrong++
		p.Detail("row %s: is in no world", l.KeyText(k.now))
		return
	}
	if len(rows) == 1 {
		p.Copied++
	} else {
		p.Keys++
	}
	var off []string
	for i, column := range l.Columns {
		var all []any
		for _, row := range rows {
			all = append(all, row[i])
		}
		at := slices.IndexFunc(p.Columns, func(c evidence.ColumnProof) bool { return c.Column == column })
		op, most := rules.FormulaSame, 0
		if slices.Contains(l.Key, i) {
			op = rules.FormulaFirst // others may have the other zero
		}
		if at >= 0 && len(rows) > 1 {
			op, most = p.Columns[at].Formula.Op, p.Columns[at].Formula.Most
		}
		if !fulfils(op, most, l.Types[i], k.now[i], all) {
			if off = append(off, column); at >= 0 {
				p.Columns[at].Wrong++
			}
		}
	}
	if c := t.Combine; c.When != nil && len(rows) > 1 {
		i := slices.Index(l.Columns, c.When.Column)
		if slices.ContainsFunc(rows, func(row []any) bool { return !c.When.Holds(world.Printed(row[i])) }) {
			off = append(off, c.When.Column)
		}
	}
	if len(off) > 0 {
		p.Wrong++
		p.Detail("row %s: %s is not as planned", l.KeyText(k.now), strings.Join(off, ", "))
	}
}

// fulfils reports whether a value is what a formula promises of those that were combined.
func fulfils(op rules.FormulaOp, most int, declared string, now any, all []any) bool {
	switch op {
	case rules.FormulaSame:
		return !slices.ContainsFunc(all, func(v any) bool { return !world.Same(v, now) })
	case rules.FormulaFirst:
		return world.Same(now, all[0])
	case rules.FormulaLast:
		return world.Same(now, all[len(all)-1])
	}
	known := slices.DeleteFunc(slices.Clone(all), func(v any) bool { return v == nil })
	if len(known) == 0 || now == nil {
		return len(known) == 0 && now == nil
	}
	switch op {
	case rules.FormulaSum:
		left := rational(now)
		for _, v := range known {
			n := rational(v)
			if left == nil || n == nil {
				return false
			}
			left.Sub(left, n)
		}
		return left != nil && left.Sign() == 0
	case rules.FormulaAppend:
		rest := string(world.Printed(now))
		fits := len([]rune(rest)) <= most
		for _, v := range known {
			after, begins := strings.CutPrefix(rest, string(world.Printed(v)))
			rest, fits = after, fits && begins
		}
		return fits && rest == ""
	}
	beyond := func(v any) bool {
		a, b := rational(v), rational(now)
		_, isText := v.(string)
		_, isBytes := v.([]byte)
		if a == nil || b == nil || (isText || isBytes) && !strings.HasPrefix(strings.ToLower(declared), "decimal") {
			a, b = new(big.Rat), new(big.Rat).SetInt64(int64(strings.Compare(string(world.Printed(now)), string(world.Printed(v)))))
		}
		if op == rules.FormulaMin {
			a, b = b, a
		}
		return a.Cmp(b) > 0
	}
	return slices.ContainsFunc(known, func(v any) bool { return world.Same(v, now) }) && !slices.ContainsFunc(known, beyond)
}

// rational is a number as it is written; nil if it is none.
func rational(v any) *big.Rat {
	if v == nil {
		return nil
	}
	n, ok := new(big.Rat).SetString(string(world.Printed(v)))
	if !ok || strings.ContainsAny(string(world.Printed(v)), "/_xXoObB") {
		return nil
	}
	return n
}

// proveSums lets the databases add up themselves.
func proveSums(ctx context.Context, r *job.Run, t *plan.Table, proof *evidence.CombineProof) error {
	l := r.Layouts[t.Name]
	for _, planned := range t.Combine.Sums {
		column := slices.Index(l.Columns, planned.Column)
		total := func(on *world.Connection) (string, error) {
			n, _, err := totalOf(ctx, on, l, column)
			return numericText(numericType(l.Types[column]), n), err
		}
		s := evidence.SumProof{Column: planned.Column, Verdict: verdict.Pass, Worlds: []string{}}
		var err error
		if s.After, err = total(r.New); err != nil {
			return err
		}
		for i, world := range r.Worlds {
			of := numericText(numericType(l.Types[column]), new(big.Int))
			if t.Worlds[i].Rows > 0 {
				if of, err = total(world); err != nil {
					return err
				}
			}
			s.Worlds = append(s.Worlds, of)
		}
		now := plan.CombinedSum{Worlds: s.Worlds}
		if !slices.Equal(s.Worlds, planned.Worlds) || !now.Conserved(s.After) {
			s.Verdict = verdict.Fail
			proof.Detail("the sum of %s is %s, want %s, of %s in the worlds", s.Column, s.After, planned.After, strings.Join(planned.Worlds, ", "))
		}
		proof.Sums = append(proof.Sums, s)
	}
	return nil
}

// proveCombinedKeys adds to the parts about new keys: each column of the rows was compared with its formula.
func proveCombinedKeys(_ context.Context, p *Proving) error {
	images, sums := &p.Parts.Images, &p.Parts.Sums
	for _, c := range p.Proof.Combines {
		images.Checked += c.Copied + c.Keys
		if c.Verdict != verdict.Pass {
			images.NoteWrong(max(c.Wrong, 1), "table %s, whose rows are combined", c.Table)
		}
		for _, s := range c.Sums {
			if sums.Checked++; s.Verdict != verdict.Pass {
				sums.NoteWrong(1, "%s.%s", c.Table, s.Column)
			}
		}
	}
	return nil
}
