//go:build unix && !race

package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/merge"
	mergerecord "mergesafe/merge/record"
	"mergesafe/merge/report"
)

// merged is a campaign of one merge, which is done.
func (p *place) merged() *Book {
	p.Helper()
	b := p.book("", "w1 w2")
	planned(p, b, p.options())
	must(p, second(Apply(context.Background(), b, p.options())))
	return b
}

// newFile is the file of its new database.
func (p *place) newFile() string {
	return strings.TrimPrefix(p.newDatabase("w1").DSN, "sqlite:")
}

// away moves the new database away, and back returns it.
func (p *place) away() {
	p.Helper()
	must(p, os.Rename(p.newFile(), p.newFile()+".away"))
}

func (p *place) back() {
	p.Helper()
	must(p, os.Rename(p.newFile()+".away", p.newFile()))
}

// withoutState is the book when its state is lost.
func (p *place) withoutState(b *Book) *Book {
	p.Helper()
	must(p, b.Close())
	must(p, os.Remove(b.statePath()))
	return p.book("", "w1 w2")
}

// lostPlanOf makes sure that an undo of the only merge tells of the fence whose plan is lost.
func (p *place) lostPlanOf(b *Book) {
	p.Helper()
	s, err := Undo(p.Context(), b, p.options())
	m := s.Merges[0]
	if err != nil || m.Phase != Refused || !strings.HasPrefix(m.Problem, "its plan is lost, and server 1 of w1 is fenced: its world goes to ") || m.Advice[1] != "gameid servers release -h" {
		p.Errorf("%v, %+v", err, m)
	}
	if v := s.Say(Telling{Name: "undo"}); v.Word != "FAILED" || v.Ending != report.Refused {
		p.Errorf("%+v", v)
	}
}

// When the state and the plan of a fenced merge are lost, an undo of everything does not say that nothing is left; nor when there is
// another plan since, which the fences refuse.
func TestUndoOfALostPlan(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.fenced()
	must(t, os.RemoveAll(b.Plans()))
	b = p.withoutState(b)
	for range 2 {
		p.lostPlanOf(b)
	}
	must(t, second(Plan(t.Context(), b, p.options())))
	p.lostPlanOf(b)
	if _, err := Apply(t.Context(), b, p.options()); err == nil {
		t.Error("it was applied")
	}
	p.lostPlanOf(b)
	b = p.withoutState(b)
	must(t, second(Plan(t.Context(), b, p.options())))
	p.lostPlanOf(b)
}

// begunOnly has the state say that the merge is in a phase, without its plan and its new database.
func (p *place) begunOnly(b *Book, phase Phase) {
	p.Helper()
	must(p, os.RemoveAll(b.Plans()))
	must(p, b.change(p.Context(), func(ctx context.Context, s state) error {
		return s.set(ctx, b.campaign.Merges[0], func(rec *record) {
			if rec.Phase = phase; phase == Skipped {
				rec.Problem = skippedText
			}
		})
	}))
}

// The state can say that a merge has begun of which nothing was made: without its plan it is as one that has not begun.
func TestLostPlanBeforeTheRecord(t *testing.T) {
	t.Parallel()
	for _, phase := range []Phase{Copying, Failed, Undoing, Trying, Skipped} {
		named := func(p *place) Options {
			o := p.options()
			o.Merges = []string{"w1"}
			return o
		}
		p := newPlace(t, 3, 3)
		b := p.book("", "w1 w2")
		planned(t, b, p.options())
		p.begunOnly(b, phase)
		planned(t, b, named(p))
		if got := phases(t, b); got != "w1 planned" {
			t.Errorf("%s: %s", phase, got)
		}
		p.begunOnly(b, phase)
		s, err := Apply(t.Context(), b, named(p))
		if err == nil || !strings.Contains(s.Merges[0].Problem, "plan") || s.Merges[0].Phase == Failed {
			t.Errorf("%s: %v, %+v", phase, err, s.Merges)
		}
		p.begunOnly(b, phase)
		s, err = Undo(t.Context(), b, p.options())
		must(t, err)
		if v := s.Say(Telling{Name: "undo"}); v.Word != "UNDONE" || v.Ending != report.Done || s.Merges[0].Problem != "" {
			t.Errorf("%s: %+v", phase, s.Merges)
		}
		planned(t, b, named(p))
		must(t, second(Apply(t.Context(), b, named(p))))
		if got := phases(t, b); got != "w1 verified" {
			t.Errorf("%s: %s", phase, got)
		}

		p = newPlace(t, 3, 3)
		b = p.fenced()
		p.begunOnly(b, phase)
		p.lostPlanOf(b)
		p.begunOnly(b, phase)
		s, err = Plan(t.Context(), b, named(p))
		if m := s.Merges[0]; err != nil || m.Phase != Refused || !strings.Contains(m.Problem, "gameid servers release -h") {
			t.Errorf("%s: %v, %+v", phase, err, m)
		}
	}
}

// A new database that was open and is missing is not forgotten with its plan, until an undo.
func TestLostPlanAfterOpen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	p.away()
	must(t, os.RemoveAll(b.Plans()))
	for i, run := range []func(context.Context, *Book, Options) (*Status, error){Plan, Verify, Apply} {
		s, err := run(t.Context(), b, p.options())
		if m := s.Merges[0]; m.Problem != "" && !strings.Contains(m.Problem, "its plan is missing: restore ") || !m.Open || (i == 0) != (err != nil) {
			t.Errorf("%d: %v, %+v", i, err, m)
		}
	}
	s, err := Undo(t.Context(), b, p.options())
	must(t, err)
	if m := s.Merges[0]; !strings.HasPrefix(m.Problem, "its plan is lost, and server 1 of w1 is fenced: its world went to ") {
		t.Errorf("%+v", m)
	}
	p.back()
	must(t, second(Apply(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}

// A record that was made and has no plan yet is told by an undo, also if the state is lost.
func TestLostPlanBesideABareRecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	made := p.made("w1")
	must(t, os.RemoveAll(b.Plans()))
	made.exec("", "DELETE FROM "+mergerecord.RecordTable)
	for range 2 {
		s, err := Undo(t.Context(), b, p.options())
		must(t, err)
		if v, m := s.Say(Telling{Name: "undo"}), s.Merges[0]; v.Ending == report.Done || !strings.Contains(m.Problem, merge.ErrPartOfPlan.Error()) ||
			!strings.Contains(m.Problem, "if no table of the game is in the new database yet, drop that instead, and plan again: ") {
			t.Errorf("%+v", m)
		}
		b = p.withoutState(b)
	}
}

// The new database of an opened merge that is missing is named as that by each command: it is not one that is made and not open, nor one
// that was undone.
func TestLostAfterOpen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	p.away()
	named := p.options()
	named.Merges = []string{"w1"}
	for i, run := range []func(context.Context, *Book, Options) (*Status, error){Plan, Verify, Apply, Apply, Plan} {
		o := p.options()
		if i == 3 {
			o = named
		}
		s, err := run(t.Context(), b, o)
		if m := s.Merges[0]; m.Phase != Failed || !strings.Contains(m.Problem, "w1_m2 is missing or has another name, with all changes") || len(m.Advice) == 0 || (i%4 == 0) != (err != nil) {
			t.Errorf("%d: %+v, %v", i, m, err)
		}
	}
	p.back()
	must(t, second(Verify(t.Context(), b, named)))
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
	p.away()
	b = p.withoutState(b)
	must(t, b.Skip(t.Context(), "w1")) // hides nothing
	must(t, second(Apply(t.Context(), b, p.options())))
	if m := statusOf(t, b).Merges[0]; m.Phase != Failed || !strings.Contains(m.Problem, "w1_m2 is missing") {
		t.Errorf("%+v", m)
	}
}

// While nothing has looked into the databases, status does not say that no merge has begun: the state and the plans may be lost.
func TestStatusWithoutStateAndPlans(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	must(t, os.RemoveAll(b.Plans()))
	b = p.withoutState(b)
	if v := statusOf(t, b).Say(Telling{Name: "status"}); v.Word != "NOT PLANNED" || !strings.Contains(v.Sentence, "plan looks whether") {
		t.Errorf("%s %s", v.Word, v.Sentence)
	}
	must(t, second(Plan(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}

// fenced is a campaign of one merge that is planned, and whose worlds are fenced.
func (p *place) fenced() *Book {
	p.Helper()
	b := p.book("", "w1 w2")
	planned(p, b, p.options())
	plan, err := b.readPlan("w1")
	must(p, err)
	j := p.jobOf(p.database("w1"), p.database("w2"))
	j.plan = plan
	must(p, fenceAll(context.Background(), b.campaign, []*job{j}, time.Now))
	return b
}

// A merge whose worlds are fenced and whose plan is out of date has no plan that can be carried out: undo lifts the fences first, and says so.
func TestPlanOfFencedWorlds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.fenced()
	must(t, second(Plan(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 planned" {
		t.Errorf("apply can begin: %s", got)
	}
	p.exec("w2", "DELETE FROM items")
	for range 2 {
		s, err := Plan(t.Context(), b, p.options())
		must(t, err)
		advice := strings.Join(s.Merges[0].Advice, "\n")
		undo, plan := strings.Index(advice, "fleet undo"), strings.Index(advice, "fleet plan")
		if v := s.Say(Telling{Name: "plan"}); v.Word != "REFUSED" || v.Ending != report.Refused || undo < 0 || plan < undo {
			t.Errorf("%s: %+v", v.Sentence, s.Merges)
		}
	}
	s, err := Undo(t.Context(), b, p.options())
	must(t, err)
	if v := s.Say(Telling{Name: "undo"}); v.Sentence != "night: the fences of 1 of 1 merge lifted" {
		t.Error(v.Sentence)
	}
	if s, err = Undo(t.Context(), b, p.options()); err != nil {
		t.Fatal(err)
	}
	if v := s.Say(Telling{Name: "undo"}); v.Sentence != "night: no merge has begun" {
		t.Error(v.Sentence)
	}
	planned(t, b, p.options())
}

// moves gives the world w1 another place, beside which its new database would be.
func (p *place) moves() {
	p.Helper()
	was, moved := p.server, filepath.Join(p.dir, "moved", "w1.db")
	must(p, os.Mkdir(filepath.Dir(moved), 0o755))
	must(p, os.Rename(strings.TrimPrefix(was("w1"), "sqlite:"), moved))
	p.server = func(world string) string {
		if world == "w1" {
			return "sqlite:" + moved
		}
		return was(world)
	}
}

// A plan is for one place of the new database: for another one a new plan is made.
func TestMovedBeforeApply(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	p.moves()
	if _, err := Apply(t.Context(), b, p.options()); err == nil || !strings.Contains(err.Error(), "the plan was made for ") {
		t.Errorf("got %v", err)
	}
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}

// Without the state, a merge that has begun may have its record in the place where it was planned: no command takes another place for that one.
func TestMovedAfterFences(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.withoutState(p.fenced())
	p.moves()
	named := p.options()
	named.Merges = []string{"w1"}
	for i, run := range []func(context.Context, *Book, Options) (*Status, error){Verify, Plan, Undo} {
		s, err := run(t.Context(), b, named)
		must(t, err)
		if m := s.Merges[0]; !strings.Contains(m.Problem, "the plan was made for ") {
			t.Errorf("%d: %+v", i, m)
		}
	}
	if stop, failure := p.starts("w2", 2); failure == nil {
		stop()
		t.Error("its fence was lifted")
	}
}

// When the state is lost, a merge can be skipped that has begun: the next command finds that, and whether it is open.
func TestSkippedWithoutState(t *testing.T) {
	t.Parallel()
	for made, want := range map[bool]string{true: "w1 skipped after it began", false: "w1 verified"} {
		p := newPlace(t, 3, 3)
		b := p.book("", "w1 w2")
		planned(t, b, p.options())
		plan, err := b.readPlan("w1")
		must(t, err)
		worlds := []merge.Database{p.database("w1"), p.database("w2")}
		must(t, second(merge.Apply(t.Context(), plan, p.newDatabase("w1"), worlds, merge.Options{})))
		if !made {
			must(t, second(merge.Open(t.Context(), plan, p.newDatabase("w1"), worlds, merge.OpenOptions{})))
		}
		for _, run := range []func(context.Context, *Book, Options) (*Status, error){Apply, Plan} {
			b = p.withoutState(b)
			must(t, b.Skip(t.Context(), "w1"))
			s, err := run(t.Context(), b, p.options())
			must(t, err)
			got := "w1 " + string(s.Merges[0].Phase)
			if s.Merges[0].Problem == skippedText {
				got += " after it began"
			}
			if got != want {
				t.Errorf("%s, want %s: %+v", got, want, s.Merges[0])
			}
		}
	}
}

// A merge that was skipped after it began stays out, also if verify proves what it made.
func TestVerifyOfSkipped(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	plan, err := b.readPlan("w1")
	must(t, err)
	must(t, second(merge.Apply(t.Context(), plan, p.newDatabase("w1"), []merge.Database{p.database("w1"), p.database("w2")}, merge.Options{})))
	must(t, b.Skip(t.Context(), "w1"))
	named := p.options()
	named.Merges = []string{"w1"}
	for _, o := range []Options{p.options(), named, p.options()} {
		must(t, second(Verify(t.Context(), b, o)))
		s, err := Apply(t.Context(), b, p.options())
		must(t, err)
		if m := s.Merges[0]; m.Phase != Skipped || m.Problem != skippedText {
			t.Errorf("%+v", m)
		}
	}
}

// An apply that was killed when only the worlds were fenced is not said to have begun nothing, until the fences are lifted.
func TestStatusOfFences(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	planned(t, b, p.options())
	says := func(word string, ending report.Ending) {
		t.Helper()
		if v := statusOf(t, b).Say(Telling{Name: "status"}); v.Word != word || v.Ending != ending {
			t.Errorf("%s: %s", v.Word, v.Sentence)
		}
	}
	must(t, second(run(t.Context(), b, doingApply, p.options(), func(ctx context.Context, r *runner, jobs []*job) error {
		return second(makeReady(ctx, r, jobs))
	})))
	says("FENCED", report.Stopped)
	must(t, second(Plan(t.Context(), b, p.options())))
	says("FENCED", report.Stopped)
	must(t, b.Skip(t.Context(), "w1"))
	says("FENCED", report.Stopped)
	must(t, second(Undo(t.Context(), b, p.options())))
	says("NOT VERIFIED", report.NotVerified)
	o := p.options()
	o.Merges = []string{"w1"}
	must(t, second(Plan(t.Context(), b, o)))
	says("NOT BEGUN", report.Done)
	b = p.withoutState(p.fenced())
	must(t, second(Plan(t.Context(), b, p.options())))
	says("FENCED", report.Stopped)
	must(t, second(Apply(t.Context(), b, p.options())))
	says("DONE", report.Done)
}

// A merge that was skipped when only its worlds were fenced is said to have begun, until undo has lifted the fences.
func TestUndoOfSkippedFences(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.fenced()
	must(t, b.change(t.Context(), func(ctx context.Context, s state) error {
		return s.set(ctx, b.campaign.Merges[0], func(rec *record) { rec.Phase, rec.Problem = Skipped, skippedText })
	}))
	s, err := Undo(t.Context(), b, p.options())
	must(t, err)
	if m := s.Merges[0]; m.Phase != Skipped || m.Problem != "" || m.Undo != UndidFences {
		t.Errorf("%+v", m)
	}
}

// A copy of a new database whose merge was undone is not one that is open: its worlds are not fenced.
func TestCopyOfAnUndoneMerge(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	file := p.newFile()
	copied, err := os.ReadFile(file)
	must(t, err)
	must(t, second(Undo(t.Context(), b, p.options())))
	must(t, os.WriteFile(file, copied, 0o600))
	named := p.options()
	named.Merges = []string{"w1"}
	for _, run := range []func(context.Context, *Book, Options) (*Status, error){Plan, Apply, Verify} {
		s, err := run(t.Context(), b, named)
		must(t, err)
		if m := s.Merges[0]; m.Phase != Failed || m.Open || m.Problem == "" {
			t.Errorf("%+v", m)
		}
	}
}

// A plan that was refused because the new database was away gives way to the record there.
func TestRefusedPlanBesideARecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.merged()
	p.away()
	must(t, os.RemoveAll(b.Plans()))
	b = p.withoutState(b)
	must(t, second(Plan(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 refused" {
		t.Fatal(got)
	}
	p.back()
	must(t, second(Plan(t.Context(), b, p.options())))
	must(t, second(Verify(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}

// An open database that became a world of a later merge is no place to start a game server.
func TestLaterMergeOfACampaign(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3)
	b := p.merged()
	both := []merge.Database{p.newDatabase("w1"), p.database("w3")}
	into := merge.Database{Name: "big", DSN: "sqlite:" + filepath.Join(p.dir, "big.db")}
	later, err := merge.NewPlan(t.Context(), into, both, merge.PlanOptions{})
	must(t, err)
	must(t, second(merge.Apply(t.Context(), later, into, both, merge.Options{})))
	known := b
	for i, run := range []func(context.Context, *Book, Options) (*Status, error){Apply, Verify, Plan, Plan, Undo, Undo, Verify} {
		if i == 3 {
			b = p.withoutState(known)
		}
		s, err := run(t.Context(), b, p.options())
		must(t, err)
		m, undoes := s.Merges[0], i == 4 || i == 5
		if m.Phase != Verified || !m.Open || !strings.Contains(m.Later, `its world goes to "big"`) || undoes != strings.Contains(m.Problem, "it could not be undone: ") {
			t.Errorf("%d: %+v", i, m)
		}
		if v := s.Say(Telling{Name: "undo"}); undoes && (v.Word != "REFUSED" || v.Ending != report.Refused) {
			t.Errorf("%d: %+v", i, v)
		}
		sections := s.startSections()
		if len(sections[0].Rows) > 0 || len(sections[2].Items) != 1 {
			t.Errorf("%+v", sections)
		}
	}
}
