package campaign

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/printable"
)

// limits are how many merges run at a time, and when, as a campaign file says.
type limits Campaign

// limitsOf are those of a command: the window, and what is done after a failure, are about the
// merges that apply begins.
func limitsOf(c *Campaign, doing string) limits {
	l := limits(*c)
	l.Parallel, l.PerServer = max(c.Parallel, 1), max(c.PerServer, 1)
	if doing != doingApply {
		l.Window, l.Continue, l.Retries = nil, true, 0
	}
	return l
}

// ending is how the work on a merge ended.
type ending int

const (
	done   ending = iota // or left as it is
	failed               // for good
	again                // it stopped, and may work later
)

// schedule has work done on the jobs: in their order, as many at a time as the limits allow. A
// job whose servers are busy lets later ones pass. It ends when nothing more can be begun and
// nothing runs, and returns the jobs that wait for the next window.
func (r *runner) schedule(
	ctx context.Context, jobs []*job, work func(ctx context.Context, r *runner, j *job) ending,
) (left []*job) {
	type end struct {
		j   *job
		how ending
	}
	waiting, running, ended := slices.Clone(jobs), []*job(nil), make(chan end)
	ticker := time.NewTicker(r.opts.tick)
	defer ticker.Stop()
	stopped := false
	for {
		why, closed := "", false
		for !stopped && ctx.Err() == nil {
			waiting = r.wanted(waiting)
			var at int
			if at, why, closed = r.limits.next(waiting, running, r.isPaused(), r.book.now()); at < 0 {
				break
			}
			j := waiting[at]
			waiting, running = slices.Delete(waiting, at, at+1), append(running, j)
			go func() { ended <- end{j, work(ctx, r, j)} }()
		}
		if len(running) == 0 && (stopped || closed || len(waiting) == 0 || ctx.Err() != nil) {
			if closed {
				left = waiting
			}
			break
		}
		r.waits(why)
		cancelled := ctx.Done()
		if ctx.Err() != nil {
			cancelled = nil // what runs comes to its end
		}
		select {
		case e := <-ended:
			running = slices.DeleteFunc(running, func(j *job) bool { return j == e.j })
			switch e.how {
			case again:
				e.j.notYet = r.book.now().Add(r.opts.retryAfter)
				waiting = append(waiting, e.j)
			case failed:
				stopped = stopped || !r.limits.Continue
			}
		case <-ticker.C:
		case <-cancelled:
		}
	}
	r.waits("")
	return left
}

// untilOpen waits until one of the jobs can be begun in a window, and returns those that the
// operator did not skip meanwhile.
func (r *runner) untilOpen(ctx context.Context, jobs []*job) []*job {
	ticker := time.NewTicker(r.opts.tick)
	defer ticker.Stop()
	defer r.waits("")
	for {
		jobs = r.wanted(jobs)
		_, why, closed := r.limits.next(jobs, nil, false, r.book.now())
		if !closed || ctx.Err() != nil {
			return jobs
		}
		r.waits(why)
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// wanted leaves out the jobs that the operator skipped since apply began, and brings up to date
// how long the others are predicted to take.
func (r *runner) wanted(jobs []*job) []*job {
	if r.doing != doingApply && r.doing != doingTry {
		return jobs
	}
	now, err := r.book.Status(context.Background())
	if err != nil {
		return jobs
	}
	at := make(map[string]MergeStatus)
	for _, m := range now.Merges {
		at[m.Name()] = m
	}
	return slices.DeleteFunc(jobs, func(j *job) bool {
		j.atMost = seconds(at[j.Name()].Predicted[1])
		return at[j.Name()].Phase == Skipped
	})
}

// next returns which of the waiting jobs can be begun, or a negative number. why is for what
// all of them wait, if it is not for those that run; closed tells that it is the next window.
func (l limits) next(waiting, running []*job, paused bool, now time.Time) (at int, why string, closed bool) {
	if paused {
		return -1, "paused by the operator", false
	}
	if len(waiting) == 0 || len(running) >= l.Parallel {
		return -1, "", false
	}
	opens, closes := now, time.Time{}
	if l.Window != nil {
		opens, closes = l.Window.Next(now)
	}
	fits := false
	var retry time.Time
	for i, j := range waiting {
		switch {
		case now.Before(opens):
		case j.notYet.After(now):
			if retry.IsZero() || j.notYet.Before(retry) {
				retry = j.notYet
			}
		case l.Window != nil && now.Add(j.atMost).After(closes):
		case l.busy(j.servers, running):
			fits = true
		default:
			return i, "", false
		}
	}
	switch {
	case fits:
	case !retry.IsZero():
		why = fmt.Sprintf("until %s, then retries what stopped", clock(retry))
	case l.Window != nil:
		if !now.Before(opens) { // what is left takes too long for the rest of this window
			opens, _ = l.Window.Next(closes)
		}
		local := opens.In(l.Window.Zone).Format("15:04")
		why = fmt.Sprintf("until %s (%s), when the window %s %s opens", clock(opens), local, l.Window, l.Window.Zone)
		closed = true
	}
	return -1, why, closed
}

// clock is a time for people, to the second.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// busy reports whether as many merges as allowed have a database on one of the servers.
func (l limits) busy(servers []string, running []*job) bool {
	for _, server := range servers {
		n := 0
		for _, j := range running {
			if slices.Contains(j.servers, server) {
				n++
			}
		}
		if n >= l.PerServer {
			return true
		}
	}
	return false
}

// tooLong says of a job that it does not fit into any window; "" if it does.
func (l limits) tooLong(j *job) string {
	if l.Window == nil || j.atMost <= l.Window.length() {
		return ""
	}
	return fmt.Sprintf("it is predicted to take up to %s, but the window %s is %s long: try the campaign (apply -try) for a better estimate, or widen the window",
		j.atMost.Round(time.Minute), printable.Text(l.Window.String()), l.Window.length())
}
