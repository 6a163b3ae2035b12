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

	// Check is all that these rules say of it: of the target alone, without
	// the tables that were left out.
	Check *merge.Report `json:"-"`
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
	return r.verify(ctx, target)
}

func (r *run) verify(ctx context.Context, target Database) (*Proof, error) {
	err := r.lookAt(ctx, target, func(s *source) error {
		if s.schema() != r.plan.Target.Schema {
			return fmt.Errorf("transfer: the tables of %q are not made as they were when the merge was planned", target.Name)
		}
		r.know(s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := r.readAll(ctx, StepVerify, false)
	if err != nil {
		return nil, err
	}
	proof := &Proof{Verdict: merge.Pass}
	for i := range r.plan.Tables {
		t, err := r.verifyTable(ctx, &r.plan.Tables[i], found[i][0], found[i][1:])
		if err != nil {
			return nil, err
		}
		if t.Verdict != merge.Pass {
			proof.Verdict = merge.Fail
		}
		proof.Tables = append(proof.Tables, *t)
	}
	return proof, r.lookAt(ctx, target, func(s *source) error { return r.checkResult(ctx, s, proof) })
}

// lookAt opens a database as package merge sees it, for the time of f.
func (r *run) lookAt(ctx context.Context, d Database, f func(s *source) error) error {
	return r.persist(ctx, fmt.Sprintf("looking at %q", d.Name), func(soft context.Context) error {
		s, err := openSource(soft, d)
		if err != nil {
			return err
		}
		defer s.Close()
		return f(s)
	})
}

// verifyTable holds what was read of a table, in the target and in the sources,
// against the plan, and looks for the rows that make the difference.
func (r *run) verifyTable(ctx context.Context, t *Table, now Content, sources []Content) (*TableProof, error) {
	proof := &TableProof{Table: t.Name, Verdict: merge.Pass, Rows: now.Rows, Want: t.Target.Rows}
	want := t.Target.After
	for i, c := range t.Sources {
		proof.Want += c.Rows
		want = want.Add(c.After)
		if sources[i].Rows != c.Rows || sources[i].Sum != c.Sum {
			proof.Sources = append(proof.Sources, r.sources[i].Name)
		}
	}
	if now.Rows == proof.Want && now.Sum == want && len(proof.Sources) == 0 {
		return proof, nil
	}
	proof.Verdict = merge.Fail
	err := r.do(ctx, fmt.Sprintf("looking for the rows that differ in table %q", t.Name), func(soft context.Context) error {
		proof.Missing, proof.Changed, proof.Samples = 0, 0, nil
		return r.explain(ctx, soft, t, proof, now, want)
	})
	return proof, err
}

// explain looks for the rows that differ from the plan.
func (r *run) explain(ctx, soft context.Context, t *Table, proof *TableProof, now Content, want Sum) error {
	l := r.layout(t.Name)
	// What the rows of the sources do not explain is the target's own.
	left, rows := now.Sum.Sub(want), now.Rows-proof.Want
	for i := range t.Sources {
		err := r.compare(ctx, soft, i, l, all, func(d *Difference, source, there []any) error {
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
			return err
		}
	}
	// With a source that was changed it cannot be told.
	proof.Own = len(proof.Sources) == 0 && (left != Sum{} || rows != 0)
	return nil
}

// compare reads the rows of a source, the first most of them, changed as the
// plan says, and the rows of the target that have their keys. It calls differs
// for those that are not the same, with the row of the source and that of the
// target. It ends with ctx, also when soft goes on.
func (r *run) compare(ctx, soft context.Context, source int, l *layout, most int64, differs func(d *Difference, row, there []any) error) error {
	src := r.sources[source]
	change := r.renames.of(src.Name, l)
	if most == 0 {
		return nil
	}
	size := l.dialect.most(len(l.key))
	next, stop := pages(soft, src, l, nil, func() int { return size }, most, false)
	defer stop()
	for {
		if err := r.between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil {
			return err
		}
		if err := change.rows(p.rows); err != nil {
			return err
		}
		there, err := lookup(soft, r.target, l, p.rows)
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
func lookup(ctx context.Context, on *link, l *layout, rows [][]any) ([][]any, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return find(ctx, on, l, l.selectFrom()+" WHERE "+l.equal(len(rows)), rows)
}

// find returns the rows that a query for the keys of these rows returns; nil
// where there is none.
func find(ctx context.Context, on *link, l *layout, query string, rows [][]any) ([][]any, error) {
	found := make([][]any, len(rows))
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
	report, err := merge.Check(ctx, []merge.Source{s, newNobody(s)}, merge.Options{Target: s.Name(), Allow: allow})
	if err != nil {
		return err
	}
	report.Sources = slices.DeleteFunc(report.Sources, func(s merge.Summary) bool { return s.Name != report.Target })
	report.Results = slices.DeleteFunc(report.Results, func(result merge.Result) bool {
		return result.Code == merge.CodeAutoIncrement || r.left(result.Table) // nobody counts beside it
	})
	report.Verdict, proof.Check = merge.Pass, report
	for _, result := range report.Results {
		if result.Verdict == merge.Pass || result.CountsAs == merge.Pass {
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
		report.Verdict = worse(report.Verdict, result.Verdict)
	}
	proof.Verdict = worse(proof.Verdict, report.Verdict)
	return nil
}

// worse is the verdict of two together.
func worse(a, b merge.Verdict) merge.Verdict {
	for _, v := range []merge.Verdict{merge.Fail, merge.NotVerified} {
		if a == v || b == v {
			return v
		}
	}
	return merge.Pass
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
