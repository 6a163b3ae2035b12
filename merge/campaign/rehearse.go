package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/agenda"
	"mergesafe/merge/copies"
	"mergesafe/merge/progress"
	"mergesafe/merge/site"
	"mergesafe/merge/transfer"
)

const doingRehearse = "rehearse"

// Rehearsal says where the copies of a rehearsal are. The zero value is right if all worlds
// are files of SQLite.
type Rehearsal struct {
	Folder string // for files; the default is beside the campaign file
	Server string // the DSN of a server of MySQL or MariaDB, without a database: for worlds that are on one
	Keep   bool   // the copies stay afterwards
}

// Rehearsed is what a rehearsal found.
type Rehearsed struct {
	Merges []progress.MergeStatus `json:"merges"` // as they ended on the copies
	Copied float64                `json:"copied"` // seconds that the copying took
	Took   float64                `json:"took"`   // seconds that the merges took, all together
	Left   []string               `json:"left,omitempty"`
	Kept   string                 `json:"kept,omitempty"` // the folder of the copies, if they were kept
}

// Rehearse copies all worlds of the campaign, and plans, applies and verifies the campaign on
// the copies, without hooks and windows of time, with as many merges at a time as the campaign
// says. How long each merge took becomes its prediction. The worlds are only read, and may be
// in use.
//
// The copies are removed at the end, also if the context ends. Those of a rehearsal that was
// killed are removed by the next one.
func Rehearse(ctx context.Context, b *Book, o Options, how Rehearsal) (*Rehearsed, error) {
	result := new(Rehearsed)
	_, err := run(ctx, b, doingRehearse, o, func(ctx context.Context, r *runner, jobs []*job) error {
		return rehearse(ctx, r, jobs, how, result)
	})
	slices.SortFunc(result.Merges, func(x, y progress.MergeStatus) int {
		return b.campaign.Place(x.Target) - b.campaign.Place(y.Target)
	})
	return result, err
}

func rehearse(ctx context.Context, r *runner, jobs []*job, how Rehearsal, result *Rehearsed) (err error) {
	if how.Folder == "" {
		how.Folder = r.book.beside + ".rehearsal"
	}
	if how.Folder, err = filepath.Abs(how.Folder); err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		phase := r.recordOf(j).Phase
		return phase.Begun() || phase == progress.Skipped && !j.named
	})
	if len(jobs) == 0 {
		return errors.New("campaign: there is nothing to rehearse: every merge has begun, or was skipped")
	}
	c, err := copies.Open(ctx, how.Folder, how.Server)
	if err != nil {
		return fmt.Errorf("campaign: rehearse: %w", err)
	}
	defer func() {
		err = errors.Join(err, c.Close(ctx, how.Keep))
		if how.Keep {
			result.Kept = how.Folder
		}
	}()
	if err := roomToCopy(how.Folder, jobs); err != nil {
		return err
	}
	began := r.book.now()
	on, jobs, err := copyAll(ctx, r, c, jobs, result)
	result.Copied = r.book.now().Sub(began).Seconds()
	if err != nil || len(jobs) == 0 {
		return err
	}
	began = r.book.now()
	again := *r.book.campaign
	again.Name += " (rehearsal)"
	again.Hooks, again.Window, again.Stopped, again.Backup, again.Room = nil, nil, agenda.ByHand, agenda.ByHand, ""
	again.Continue, again.Undo = true, false
	if again.Merges, err = mergesOn(ctx, c, on, jobs); err != nil {
		return err
	}
	book, err := Open(ctx, &again, filepath.Join(how.Folder, "campaign"))
	if err != nil {
		return err
	}
	defer book.Close()
	o := r.opts
	o.Targets, o.Basis = nil, ""
	o.Databases = func(world string) (transfer.Database, error) { return on[world], nil }
	o.Warn = func(text string) {
		if !strings.Contains(text, saidByHand) { // nobody stopped or saved the copies
			r.opts.Warn(text)
		}
	}
	o.Places = nil
	if o.Ranges != nil {
		o.Ranges = noReserving{o.Ranges}
	}
	_, err = Plan(ctx, book, o)
	if err == nil {
		_, err = Apply(ctx, book, o)
		if not, ok := errors.AsType[*NotReadyError](err); ok {
			err = fmt.Errorf("campaign: the rehearsal: %w", not)
		}
	}
	result.Took = r.book.now().Sub(began).Seconds()
	return errors.Join(err, takeOver(context.WithoutCancel(ctx), r, book, jobs, result))
}

// mergesOn are the merges of a rehearsal: new databases are made among the copies, and removed with them.
func mergesOn(ctx context.Context, c *copies.Copies, on map[string]transfer.Database, jobs []*job) (
	all []agenda.Merge, err error,
) {
	for i, j := range jobs {
		m := j.Merge
		if m.Into = ""; j.into != nil {
			if m.Into, err = c.Reserve(ctx, i+1, j.Target+"_new", on[j.Target]); err != nil {
				return nil, fmt.Errorf("campaign: rehearse: the new database of %q: %w", j.Target, err)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// noReserving knows which ranges worlds have, and gives none.
type noReserving struct{ Ranges }

func (noReserving) Reserve(context.Context, *transfer.Plan) error { return nil }

// copyAll copies the worlds of all merges, some at a time. It returns the copies and the merges of
// which all worlds were copied; what is wrong with the others is in the result.
func copyAll(ctx context.Context, r *runner, c *copies.Copies, jobs []*job, result *Rehearsed) (
	on map[string]transfer.Database, copied []*job, err error,
) {
	on = make(map[string]transfer.Database)
	var mu sync.Mutex
	failed := make(map[*job]string)
	number := 0
	r.schedule(ctx, jobs, func(ctx context.Context, _ *runner, j *job) ending {
		for i, world := range j.Worlds() {
			mu.Lock()
			number++
			n := number
			mu.Unlock()
			to, left, err := c.Copy(ctx, n, j.databases[i])
			mu.Lock()
			if err != nil {
				failed[j] = fmt.Sprintf("the world %s cannot be copied: %s", printable.Text(world), plainly(err))
			}
			for _, what := range left {
				result.Left = append(result.Left, world+": "+what)
			}
			on[world] = to
			mu.Unlock()
			if err != nil {
				return done
			}
		}
		return done
	})
	slices.Sort(result.Left)
	if ctx.Err() != nil {
		return nil, nil, &transfer.StoppedError{Doing: "copying the worlds", Cause: context.Cause(ctx)}
	}
	for _, j := range jobs {
		problem, not := failed[j]
		if !not {
			copied = append(copied, j)
			continue
		}
		m := progress.MergeStatus{Target: j.Target, Sources: j.Sources, Phase: progress.Refused, Problem: problem}
		result.Merges = append(result.Merges, m)
		r.update(j.Merge, agenda.KindRehearsed, problem, nil)
	}
	return on, copied, nil
}

// roomToCopy makes sure that copies of files, and the merges on them, have room in a folder.
func roomToCopy(folder string, jobs []*job) error {
	var need int64
	for _, j := range jobs {
		for i, d := range j.databases {
			dialect, _, err := sqldb.SplitDSN(d.DSN)
			if err != nil || dialect != sqldb.SQLite {
				continue
			}
			n, err := site.Size(context.Background(), d)
			if err != nil {
				continue // to copy it will fail
			}
			if i > 0 || j.into != nil {
				n *= 3 // its rows come to the target as well
			}
			need += n
		}
	}
	if _, free, ok := site.Disk(folder); ok && free < need {
		return fmt.Errorf("the disk of %q has %s free, and the copies may need %s: name a folder on another disk, or rehearse some of the merges", folder, printable.Bytes(free), printable.Bytes(need))
	}
	return nil
}

// takeOver takes what the rehearsal measured into the state of the campaign.
func takeOver(ctx context.Context, r *runner, book *Book, jobs []*job, result *Rehearsed) error {
	var known map[string]*record
	err := book.look(ctx, func(ctx context.Context, s state) (err error) { known, err = s.records(ctx); return err })
	if err != nil {
		return err
	}
	for _, j := range jobs {
		tried := known[j.Target]
		if tried == nil {
			continue
		}
		tried.Reports, tried.Advice = nil, nil // of the copies
		result.Merges = append(result.Merges, tried.MergeStatus)
		text := fmt.Sprintf("on copies it is %s", tried.Phase)
		switch {
		case tried.Problem != "":
			text += ": " + printable.Text(tried.Problem)
		case tried.Measured > 0:
			text += fmt.Sprintf(", in %s", printable.Seconds(tried.Measured))
		}
		r.update(j.Merge, agenda.KindRehearsed, text, func(rec *record) {
			rec.Rehearsed, rec.RehearsedWeight = tried.Measured, tried.Weight
		})
	}
	return nil
}
