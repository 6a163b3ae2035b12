package transfer

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/merge"
)

// Proof is what [Verify] found.
type Proof struct {
	// Verdict is [merge.Pass] if every table holds exactly the target's own
	// rows and the rows of the sources, all as planned, and the rules of package
	// merge find nothing in the result; [merge.Fail] if not; and
	// [merge.NotVerified] if a rule could not look at all.
	Verdict merge.Verdict `json:"verdict"`

	Tables []TableProof `json:"tables"`

	// Findings are what the rules of package merge say of the result.
	Findings []Refusal `json:"findings,omitempty"`
}

// TableProof is what [Verify] found in one table.
type TableProof struct {
	Table   string        `json:"table"`
	Verdict merge.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64         `json:"rows"`    // in the target
	Want    int64         `json:"want"`    // as planned

	// Missing and Changed are the rows of the sources that the target does not
	// have, or has with other values. They are counted where the sums differ.
	Missing int64 `json:"missing"`
	Changed int64 `json:"changed"`

	// Own tells that the target's own rows are not those that the plan found,
	// or that rows came to it from elsewhere.
	Own bool `json:"own"`

	// Sources are those whose rows are not those that were copied: somebody
	// wrote there since.
	Sources []string `json:"sources,omitempty"`

	Samples []Difference `json:"samples,omitempty"` // the first of Missing and Changed
}

// Difference is one row of a source that is not in the target as it was
// copied.
type Difference struct {
	Source  string   `json:"source"`
	Table   string   `json:"table"`
	Key     string   `json:"key"` // see [KeyText]
	Missing bool     `json:"missing,omitempty"`
	Columns []string `json:"columns,omitempty"` // that have other values
}

func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("row %s of %s, from %q: is not there", KeyText(d.Key), d.Table, d.Source)
	}
	return fmt.Sprintf("row %s of %s, from %q: %s has another value", KeyText(d.Key), d.Table, d.Source, strings.Join(d.Columns, ", "))
}

// maxSamples is how many differences are shown. Counts are exact.
const maxSamples = 10

// Verify proves that a merge that was carried out is in the target as planned:
// it reads every row of every table that was copied, in the target and in the
// sources, and holds the sums of their contents against those of the plan. It
// only reads. Where the game goes on already, or another merge came after this
// one, what they changed is found too.
//
// Where sums differ it looks for the rows, and names the first of them. At last
// it runs the rules of package merge over the result.
func Verify(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Proof, error) {
	r := &run{opts: opts.withDefaults()}
	defer r.close()
	if err := r.open(plan, target, sources); err != nil {
		return nil, err
	}
	r.target.writes = false
	state := ""
	err := r.persist(ctx, "looking at the target", func(ctx context.Context) (err error) {
		state, err = r.manifest.load(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if state != stateCopied {
		return nil, fmt.Errorf("transfer: the merge %s was not completed in %q (its state is %q): there is nothing to verify yet", plan.ID, target.Name, state)
	}
	var proof *Proof
	err = r.persist(ctx, "verifying", func(soft context.Context) (err error) {
		proof, err = r.verify(ctx, target)
		return err
	})
	if err != nil {
		return nil, err
	}
	return proof, nil
}

func (r *run) verify(ctx context.Context, target Database) (*Proof, error) {
	s, err := openSource(ctx, target)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.schema() != r.plan.Target.Schema {
		return nil, fmt.Errorf("transfer: the tables of %q are not made as they were when the merge was planned", target.Name)
	}
	r.know(s)
	r.done, r.total = 0, 2*r.plan.Rows()
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		r.total += t.Target.Rows
	}
	proof := &Proof{Verdict: merge.Pass}
	for i := range r.plan.Tables {
		t, err := r.verifyTable(ctx, &r.plan.Tables[i])
		if err != nil {
			return nil, err
		}
		if t.Verdict != merge.Pass {
			proof.Verdict = merge.Fail
		}
		proof.Tables = append(proof.Tables, *t)
	}
	if err := r.checkResult(ctx, s, proof); err != nil {
		return nil, err
	}
	return proof, nil
}

func (r *run) verifyTable(ctx context.Context, t *Table) (*TableProof, error) {
	l := r.layout(t.Name)
	now, err := contents(ctx, r.target, l, nil, func(n int) { r.progress(StepVerify, r.target.Name, t.Name, n) })
	if err != nil {
		return nil, err
	}
	proof := &TableProof{Table: t.Name, Verdict: merge.Pass, Rows: now.Rows, Want: t.Target.Rows}
	want := t.Target.After
	for i, c := range t.Sources {
		proof.Want += c.Rows
		want = want.Add(c.After)
		src, err := contents(ctx, r.sources[i], l, nil, func(n int) { r.progress(StepVerify, r.sources[i].Name, t.Name, n) })
		if err != nil {
			return nil, err
		}
		if src.Rows != c.Rows || src.Sum != c.Sum {
			proof.Sources = append(proof.Sources, r.sources[i].Name)
		}
	}
	if now.Rows == proof.Want && now.Sum == want && len(proof.Sources) == 0 {
		return proof, nil
	}
	proof.Verdict = merge.Fail
	// What the rows of the sources do not explain is the target's own.
	left, rows := now.Sum.Sub(want), now.Rows-proof.Want
	for i := range t.Sources {
		err := r.compare(ctx, i, l, nil, func(d *Difference, source, there []any) error {
			if d.Missing {
				proof.Missing++
			} else {
				proof.Changed++
			}
			if len(proof.Samples) < maxSamples {
				proof.Samples = append(proof.Samples, *d)
			}
			var h hasher
			sum, err := h.row(source)
			if err != nil {
				return err
			}
			left = left.Add(sum)
			if d.Missing {
				rows++
				return nil
			}
			if sum, err = h.row(there); err == nil {
				left = left.Sub(sum)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// With a source that was changed it cannot be told.
	proof.Own = len(proof.Sources) == 0 && (left != Sum{} || rows != 0)
	return proof, nil
}

// compare reads the rows of a source, changed as the plan says, and the rows
// of the target that have their keys. It calls differs for those that are not
// the same, with the row of the source and that of the target. limit, if not
// nil, is how far the source is read. What is read of the source is summed up
// into it.
func (r *run) compare(ctx context.Context, source int, l *layout, limit *mark, differs func(d *Difference, row, there []any) error) error {
	src := r.sources[source]
	change := r.renames.of(src.Name, l)
	most := l.dialect.most(len(l.key))
	var h hasher
	var after []any
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := most
		if limit != nil {
			n = int(min(int64(n), limit.rows))
		}
		if n == 0 {
			return nil
		}
		p, err := readPage(ctx, src, l, after, n, nil)
		if err != nil {
			return err
		}
		for _, row := range p.rows {
			after = l.keyOf(row)
			if limit != nil {
				sum, err := h.row(row)
				if err != nil {
					return err
				}
				limit.rows--
				limit.sum = limit.sum.Sub(sum)
			}
			if change != nil {
				if _, err := change(row); err != nil {
					return err
				}
			}
		}
		there, err := r.lookup(ctx, r.target, l, p.rows)
		if err != nil {
			return err
		}
		for i, row := range p.rows {
			if d := l.difference(row, there[i]); d != nil {
				d.Source = src.Name
				if err := differs(d, row, there[i]); err != nil {
					return err
				}
			}
		}
		if p.last {
			return nil
		}
	}
}

// lookup reads the rows that have the keys of these rows; nil where there is
// none.
func (r *run) lookup(ctx context.Context, on *link, l *layout, rows [][]any) ([][]any, error) {
	found := make([][]any, len(rows))
	if len(rows) == 0 {
		return found, nil
	}
	places := make(map[string]int, len(rows))
	var args []any
	for i, row := range rows {
		key, err := encodeKey(l.keyOf(row))
		if err != nil {
			return nil, err
		}
		places[key] = i
		args = append(args, l.keyOf(row)...)
	}
	query := l.selectFrom() + " WHERE " + l.equal(len(rows))
	err := on.rows(ctx, query, len(rows) == l.dialect.most(len(l.key)), args, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.tidy(row)
		key, err := encodeKey(l.keyOf(row))
		if err != nil {
			return false, err
		}
		if i, ok := places[key]; ok {
			found[i] = row
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	return found, nil
}

// difference holds what is there against what should be; nil if it is the
// same.
func (l *layout) difference(want, there []any) *Difference {
	d := &Difference{Table: l.table}
	if there == nil {
		d.Missing = true
	} else {
		for i, name := range l.columns {
			if !same(want[i], there[i]) {
				d.Columns = append(d.Columns, name)
			}
		}
		if d.Columns == nil {
			return nil
		}
	}
	d.Key, _ = encodeKey(l.keyOf(want)) // has been read before
	return d
}

// checkResult runs the rules of package merge over the target: as if it were to
// be merged with a world that has no rows.
func (r *run) checkResult(ctx context.Context, s *source, proof *Proof) error {
	var allow []string
	for _, a := range r.plan.Check.Allowed {
		allow = append(allow, a.Code)
	}
	report, err := merge.Check(ctx, []merge.Source{s, newNobody(s)}, merge.Options{Target: s.Name(), Samples: -1, Allow: allow})
	if err != nil {
		return err
	}
	for _, result := range report.Results {
		if result.Code == merge.CodeAutoIncrement {
			continue // nobody counts beside it
		}
		if result.Verdict == merge.Pass || slices.Contains(allow, result.Code) || r.left(result.Table) {
			continue
		}
		reason := result.Message
		if result.Subject != "" {
			reason = result.Subject + ": " + reason
		}
		for _, g := range result.Gaps {
			reason += "; not verified: " + g.Reason
		}
		proof.Findings = append(proof.Findings, Refusal{Table: result.Table, Code: result.Code, Reason: reason})
		if result.Verdict == merge.Fail {
			proof.Verdict = merge.Fail
		} else if proof.Verdict == merge.Pass {
			proof.Verdict = merge.NotVerified
		}
	}
	return nil
}

// left reports whether a table was left out of the merge.
func (r *run) left(table string) bool {
	return slices.ContainsFunc(r.plan.Left, func(l Left) bool { return l.Table == table })
}

// nobody is a world with the tables of another one and no rows.
type nobody struct {
	name    string
	catalog merge.Catalog
}

func newNobody(s *source) *nobody {
	n := &nobody{name: "(no rows)", catalog: *s.catalog}
	n.catalog.Skipped = nil
	return n
}

func (n *nobody) Name() string                                    { return n.name }
func (n *nobody) Catalog(context.Context) (*merge.Catalog, error) { return &n.catalog, nil }
func (n *nobody) Count(context.Context, string) (int64, error)    { return 0, nil }
func (n *nobody) Scan(context.Context, merge.Scan) iter.Seq2[*merge.Batch, error] {
	return func(func(*merge.Batch, error) bool) {}
}
func (n *nobody) Row(context.Context, string, []string, [][]byte) ([]merge.Field, error) {
	return nil, nil
}

// Servers implements [merge.Source]. A registry that lists nobody would be a
// gap.
func (n *nobody) Servers(context.Context) ([]merge.Server, error) {
	return []merge.Server{{Server: gameid.MaxServer, World: "nobody", Own: true}}, nil
}
