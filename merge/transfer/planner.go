package transfer

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"mergesafe/merge"
)

// PlanOptions are what may be chosen about a plan. The zero value means the
// defaults.
type PlanOptions struct {
	// Check are the options of the check that the plan rests on. Target is set
	// by [NewPlan]. Tables that Exclude names are not copied. What Allow names
	// may be NOT VERIFIED, and no more.
	Check merge.Options

	// Names say what becomes of values that have to be unique and are not.
	// Without a policy such a value is a refusal.
	Names []NamePolicy

	// Copies are columns that hold what a column of Names holds elsewhere.
	Copies []NameCopy

	// NoFence leaves the sources without the mark that keeps their servers from
	// being started. Then nothing at all is written there, and whoever starts
	// one makes rows that the target will never see.
	NoFence bool

	// Report, if not nil, is given the report of the check that the plan rests
	// on, with samples as Check asks for them.
	Report func(*merge.Report)

	// Progress, if not nil, is told how far the reading has come. Several
	// goroutines may call it at a time.
	Progress func(Progress)

	// Clock stamps the plan. The default is [time.Now].
	Clock func() time.Time
}

// NewPlan looks at all databases and says what a merge of the sources into the
// target would do, and what stands against it: see [Plan]. It only reads, and
// needs no right but SELECT.
//
// An error means that there is no plan, because something could not be read or
// the options do not fit the databases. Reasons against the merge are no error
// but Refusals.
func NewPlan(ctx context.Context, target Database, sources []Database, opts PlanOptions) (*Plan, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	p := &planner{opts: opts, plan: &Plan{Version: PlanVersion, Made: opts.Clock().UTC().Truncate(time.Second), Refusals: []Refusal{}}}
	defer p.close()
	if err := p.open(ctx, target, sources); err != nil {
		return nil, fmt.Errorf("transfer: plan: %w", err)
	}
	for _, step := range []func(context.Context) error{p.check, p.choose, p.rename, p.measure} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("transfer: plan: %w", err)
		}
	}
	p.plan.ID = p.plan.fingerprint()
	return p.plan, nil
}

type planner struct {
	opts PlanOptions
	plan *Plan
	dbs  []*source // the target first
	// links read rows; they belong to dbs one by one.
	links []*link
	rows  map[string]map[string]int64 // by database and table, as counted by the check
}

func (p *planner) close() {
	for _, s := range p.dbs {
		s.Close()
	}
	for _, l := range p.links {
		l.close()
	}
}

func (p *planner) open(ctx context.Context, target Database, sources []Database) error {
	if len(sources) == 0 {
		return fmt.Errorf("%w: there is no source", merge.ErrSources)
	}
	for i, d := range append([]Database{target}, sources...) {
		if d.Name == "" || len([]rune(d.Name)) > 200 {
			return fmt.Errorf("%w: the name %.20q: want 1 to 200 characters", merge.ErrSources, d.Name)
		}
		s, err := openSource(ctx, d)
		if err != nil {
			return err
		}
		p.dbs = append(p.dbs, s)
		p.links = append(p.links, &link{Database: d})
		w, err := s.world(ctx)
		if err != nil {
			return err
		}
		if s.catalog.HasRegistry {
			if err := p.refuseHeld(ctx, d); err != nil {
				return err
			}
		}
		if i == 0 {
			p.plan.Target, p.plan.Engine = w, s.catalog.Engine
			continue
		}
		w.Fence = !p.opts.NoFence && slices.ContainsFunc(w.Servers, func(s Server) bool { return s.Own })
		p.plan.Sources = append(p.plan.Sources, w)
	}
	return nil
}

func (p *planner) refuse(r Refusal) { p.plan.Refusals = append(p.plan.Refusals, r) }

// check runs the rules of package merge and takes every result that does not
// say PASS for a reason against the merge, unless the operator allowed it or
// renames resolve it.
func (p *planner) check(ctx context.Context) error {
	all := make([]merge.Source, len(p.dbs))
	for i, s := range p.dbs {
		all[i] = s
	}
	options := p.opts.Check
	options.Target = p.plan.Target.Name
	if p.opts.Report == nil {
		options.Samples = -1
	}
	if progress := p.opts.Progress; progress != nil && options.Progress == nil {
		options.Progress = func(m merge.Progress) {
			progress(Progress{Step: StepCheck, Database: m.Source, Table: m.Table, Rows: m.SourceRows, Total: m.SourceTotal})
		}
	}
	report, err := merge.Check(ctx, all, options)
	if err != nil {
		return err
	}
	if p.opts.Report != nil {
		p.opts.Report(report)
	}
	p.plan.Check.Verdict = report.Verdict
	p.rows = make(map[string]map[string]int64)
	for _, s := range report.Sources {
		p.rows[s.Name] = make(map[string]int64)
		for _, t := range s.Tables {
			p.rows[s.Name][t.Table] = t.Rows
		}
	}
	for i := range report.Results {
		p.judge(&report.Results[i])
	}
	return nil
}

// unallowable are conflicts over which rows would be lost or mixed up, whatever
// the operator thinks of them.
var unallowable = []string{
	merge.CodeServerConflict, merge.CodeWorldCloned, merge.CodeWorldMerged, merge.CodeKeyCollision,
	merge.CodeUniqueCollision, merge.CodeReferenceRebind, merge.CodeSchemaTable, merge.CodeSchemaColumn,
}

func (p *planner) judge(r *merge.Result) {
	if r.Verdict == merge.Pass {
		return
	}
	reason := Refusal{Table: r.Table, Code: r.Code, Reason: r.Message}
	if r.Subject != "" {
		reason.Reason = r.Subject + ": " + reason.Reason
	}
	if r.Verdict == merge.NotVerified {
		var gaps []string
		for _, g := range r.Gaps {
			gap := g.Reason
			if g.Source != "" {
				gap = g.Source + ": " + gap
			}
			gaps = append(gaps, gap)
		}
		reason.Reason = "not verified: " + reason.Reason + ": " + strings.Join(gaps, "; ")
	}
	switch {
	case p.excluded(r.Table) && r.Verdict == merge.NotVerified:
		// The table is left out: nothing of it is claimed.
	case r.Verdict == merge.Fail && r.Code == merge.CodeUniqueCollision && p.policy(r.Table, r.Subject) != nil:
		p.plan.Check.Resolved = append(p.plan.Check.Resolved, reason)
	case slices.Contains(p.opts.Check.Allow, r.Code) && !(r.Verdict == merge.Fail && slices.Contains(unallowable, r.Code)):
		p.plan.Check.Allowed = append(p.plan.Check.Allowed, reason)
	default:
		p.refuse(reason)
	}
}

func (p *planner) excluded(table string) bool {
	match := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, table); return ok })
	}
	include := p.opts.Check.Include
	return table != "" && (len(include) > 0 && !match(include) || match(p.opts.Check.Exclude))
}

// choose says which tables are copied, in which order, and refuses those that
// cannot be copied faithfully.
func (p *planner) choose(context.Context) error {
	target := p.dbs[0]
	for _, hidden := range target.catalog.Hidden {
		if strings.HasPrefix(hidden, "triggers") {
			continue // the check says so, and the operator may have looked
		}
		p.refuse(Refusal{Source: target.Name(), Reason: "the account is not shown " + hidden})
	}
	var chosen []*merge.Table
	for i := range target.catalog.Tables {
		t := &target.catalog.Tables[i]
		if p.excluded(t.Name) {
			p.plan.Left = append(p.plan.Left, Left{t.Name, "excluded by the operator"})
			continue
		}
		rows := int64(0)
		for _, s := range p.dbs[1:] {
			rows += p.rows[s.Name()][t.Name]
		}
		if rows == 0 {
			p.plan.Left = append(p.plan.Left, Left{t.Name, "no source has a row in it"})
		} else if p.copyable(t) {
			chosen = append(chosen, t)
		}
	}
	for _, t := range chosen {
		for _, r := range t.References {
			if p.excluded(r.ToTable) {
				p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf("it refers to rows of %q, which is excluded: exclude both, or none", r.ToTable)})
			}
		}
	}
	for _, t := range inOrder(chosen) {
		p.plan.Tables = append(p.plan.Tables, p.table(t))
	}
	p.leaveUnread()
	return nil
}

// leaveUnread lists the tables of which nothing was read, in one database at
// least: should the operator allow that, it has to be seen that these rows stay
// where they are.
func (p *planner) leaveUnread() {
	why := make(map[string][]string)
	for _, s := range p.dbs {
		for _, skipped := range s.catalog.Skipped {
			why[skipped.Table] = append(why[skipped.Table], s.Name()+": "+skipped.Reason)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(why)) {
		p.plan.Left = append(p.plan.Left, Left{table, "it is not read: " + strings.Join(why[table], "; ")})
	}
}

// copyable reports whether the rows of a table can be copied, and refuses it if
// not.
func (p *planner) copyable(t *merge.Table) bool {
	before := len(p.plan.Refusals)
	refuse := func(format string, args ...any) {
		p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)})
	}
	if len(t.Primary) == 0 {
		refuse("it has no primary key, so its rows cannot be copied in an order that can be gone on with: give it one, or exclude it")
	}
	for _, c := range t.Columns {
		if c.Generated != "" && slices.Contains(t.Primary, c.Name) {
			refuse("the column %q of its primary key is generated by the database", c.Name)
		}
	}
	for _, r := range t.Triggers {
		refuse("the trigger %q (%s) would run for every row that is copied: drop it for the time of the merge", r.Name, r.Event)
	}
	for _, s := range p.dbs[1:] {
		other := s.table(t.Name)
		if other == nil {
			continue // package merge has said so
		}
		for _, c := range t.Columns {
			// Who copies from what is generated into what is not, copies what may
			// be made differently tomorrow.
			i := slices.IndexFunc(other.Columns, func(o merge.Column) bool { return o.Name == c.Name })
			if i >= 0 && other.Columns[i].Generated != c.Generated {
				refuse("the column %q is generated by the database in %q or in the target, and not in the same way in both", c.Name, s.Name())
			}
		}
	}
	return len(p.plan.Refusals) == before
}

// inOrder sorts tables so that what is referred to comes before what refers to
// it, as far as they do not refer to each other, and otherwise by name.
func inOrder(tables []*merge.Table) (sorted []*merge.Table) {
	rest := slices.Clone(tables)
	slices.SortFunc(rest, func(a, b *merge.Table) int { return strings.Compare(a.Name, b.Name) })
	for len(rest) > 0 {
		ready := slices.IndexFunc(rest, func(t *merge.Table) bool {
			return !slices.ContainsFunc(t.References, func(r merge.Reference) bool {
				return r.ToTable != t.Name && slices.ContainsFunc(rest, func(other *merge.Table) bool { return other.Name == r.ToTable })
			})
		})
		ready = max(ready, 0)
		sorted = append(sorted, rest[ready])
		rest = slices.Delete(rest, ready, ready+1)
	}
	return sorted
}

func (p *planner) table(t *merge.Table) Table {
	l := newLayout(p.dbs[0].dialect, t)
	out := Table{Name: t.Name, Key: t.Primary, Columns: l.columns, Sources: make([]Content, len(p.plan.Sources))}
	for _, c := range t.Columns {
		if c.Generated != "" {
			out.Generated = append(out.Generated, c.Name)
		}
	}
	if t.AutoIncrement != nil {
		out.Counter = &Counter{Column: t.AutoIncrement.Column, Before: t.AutoIncrement.Next, After: t.AutoIncrement.Next}
		for _, s := range p.dbs[1:] {
			if other := s.table(t.Name); other != nil && other.AutoIncrement != nil {
				out.Counter.After = max(out.Counter.After, other.AutoIncrement.Next)
			}
		}
	}
	return out
}

// measure counts and sums up the rows of every table in every database, as
// they are and as they will be. Several databases are read at a time.
func (p *planner) measure(ctx context.Context) error {
	var total int64
	for i := range p.plan.Tables {
		for _, s := range p.dbs {
			total += p.rows[s.Name()][p.plan.Tables[i].Name]
		}
	}
	m := &measuring{planner: p, renames: newRenamer(p.plan), total: total}
	databases := make([]int, len(p.dbs))
	for i := range databases {
		databases[i] = i
	}
	n := min(DefaultParallel, len(databases))
	err := spread(ctx, n, databases, func(ctx context.Context, queue <-chan int) error {
		for i := range queue {
			p.links[i].share = n
			if err := m.database(ctx, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range p.plan.Tables {
		t := &p.plan.Tables[i]
		for j, s := range p.dbs {
			c := t.Target
			if j > 0 {
				c = t.Sources[j-1]
			}
			if want := p.rows[s.Name()][t.Name]; s.table(t.Name) != nil && c.Rows != want {
				p.refuse(Refusal{Source: s.Name(), Table: t.Name, Reason: fmt.Sprintf("it had %d rows when it was checked and %d a moment later: somebody is writing to it", want, c.Rows)})
			}
		}
	}
	return nil
}

// measuring is what the readers of databases share.
type measuring struct {
	*planner
	renames *renamer

	mu          sync.Mutex
	done, total int64
}

// database measures the tables of one database, 0 being the target.
func (m *measuring) database(ctx context.Context, number int) error {
	s := m.dbs[number]
	for i := range m.plan.Tables {
		t := &m.plan.Tables[i]
		if s.table(t.Name) == nil {
			continue
		}
		l := newLayout(m.dbs[0].dialect, m.dbs[0].table(t.Name))
		c, err := contents(ctx, m.links[number], l, all, m.renames.of(s.Name(), l), func(n int) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.done += int64(n)
			if m.opts.Progress != nil {
				m.opts.Progress(Progress{Step: StepMeasure, Database: s.Name(), Table: t.Name, Rows: m.done, Total: m.total})
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if number == 0 {
			t.Target = c
		} else {
			t.Sources[number-1] = c
		}
	}
	return nil
}
