package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// readPlan reads the plan of a merge; nil if there is none.
func (b *Book) readPlan(m string) (*merge.Plan, error) {
	f, err := os.Open(b.PlanFile(m))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := merge.ReadPlan(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.PlanFile(m), report.Plainly(err))
	}
	return plan, nil
}

// planOf reads the plan of a merge; nil if it is nowhere. If the file is lost or damaged and the merge has begun, the
// new database has the plan on record, and the file is written again; so it is if the plan in the file was refused, as one that was
// made while that database was away.
func (r *runner) planOf(ctx context.Context, j *job) (*merge.Plan, error) {
	plan, err := r.book.readPlan(j.Name())
	if err == nil && plan != nil && len(plan.Refusals) == 0 {
		return plan, nil
	}
	rec := r.recordOf(j)
	id := rec.Plan
	if plan != nil {
		id = ""
	}
	var recorded *merge.Plan
	there, unread := merge.Exists(ctx, j.into)
	if there {
		recorded, unread = merge.RecordedPlan(ctx, j.into, id)
	}
	switch {
	case errors.Is(unread, merge.ErrPartOfPlan):
		return nil, fmt.Errorf("its plan is missing: restore %s; if no table of the game is in the new database yet, drop that instead, and plan again: %s; %w",
			r.book.PlanFile(j.Name()), r.opts.Command("plan", j.Name()), report.Plainly(unread))
	case unread != nil && rec.begun():
		return nil, fmt.Errorf("%w; it could not be recovered from the new database: %w",
			r.book.planGone(j.Name()), report.Plainly(unread))
	case unread != nil, recorded == nil, !slices.Equal(namesOf(recorded), j.Worlds):
		return plan, err
	}
	if err := r.book.write(r.book.PlanFile(j.Name()), recorded.Write); err != nil {
		return nil, err
	}
	was := "was missing"
	switch {
	case plan != nil:
		was = "was refused"
	case err != nil:
		was = "could not be read (" + plainly(err) + ")"
	}
	r.opts.Warn(fmt.Sprintf("the plan of the merge %s %s: %s is written again from the record in the new database",
		j.Name(), was, r.book.PlanFile(j.Name())))
	return recorded, nil
}

// planGone is the error of a merge that has begun, or may have, and has no plan any more.
func (b *Book) planGone(merge string) error {
	return fmt.Errorf("its plan is missing: restore %s; without it the merge can be neither completed nor undone", b.PlanFile(merge))
}

// write writes a file in the folder of the plans: all of it, or none.
func (b *Book) write(file string, write func(io.Writer) error) error {
	if err := os.MkdirAll(b.Plans(), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.Plans(), ".part-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it has its name
	err = errors.Join(f.Chmod(0o644), write(f))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// begunAlready reports where the merge of a plan is, if it has begun, or if a process that was
// killed left its fences: only this plan can lift them. It is nil if neither is so.
func begunAlready(
	ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database,
) (*merge.Status, error) {
	at, err := merge.LookUp(ctx, plan, into, worlds)
	if err != nil {
		return nil, err
	}
	if at.State.Nothing() && !at.Fenced() {
		return nil, nil
	}
	return at, nil
}

// reportsOf are the names of the reports of a merge that are beside its plan.
func (r *runner) reportsOf(j *job, plan *merge.Plan) (names []string) {
	for _, command := range []string{"apply", "verify", "open", "undo"} {
		file := r.book.fileOf(j.Name(), "."+command+".json")
		text, err := os.ReadFile(file)
		var o report.Outcome
		if err != nil || json.Unmarshal(text, &o) != nil || o.PlanID != plan.ID {
			continue
		}
		names = append(names, filepath.Base(r.book.fileOf(j.Name(), "."+command+".html")), filepath.Base(file))
	}
	return names
}

// report writes a report about a merge beside its plan, and returns its names for the record.
func (r *runner) report(j *job, o *report.Outcome, command string) (names []string) {
	for _, as := range []struct {
		ending string
		write  func(io.Writer) error
	}{{".html", o.WriteHTML}, {".json", o.WriteJSON}} {
		file := r.book.fileOf(j.Name(), "."+command+as.ending)
		if err := r.book.write(file, as.write); err != nil {
			r.opts.Warn(err.Error())
			continue
		}
		names = append(names, filepath.Base(file))
	}
	return names
}
