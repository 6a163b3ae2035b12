package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"

	"mergesafe/merge"
)

// A merge is made in a new database beside all its worlds. The first world goes on there when that is
// open. It is opened with the account of the first world.

// findInto finds the new database of a merge. That of a merge that has begun is the one of its plan: then
// the first world's own database is where it was before, also if the world was moved to the new one. So
// is that of a merge to be undone or proved.
func (b *Book) findInto(ctx context.Context, j *job, doing string) error {
	var rec *record
	err := b.look(ctx, func(ctx context.Context, s state) (err error) {
		rec, err = s.merge(ctx, j.Merge)
		return err
	})
	if err != nil {
		return err
	}
	account, now := sqldb.SplitAccount(j.databases[0].DSN)
	j.to, j.was = New(j.Into, j.Name(), now), now
	if rec.To != "" && (rec.begun() || rec.Plan != "" && (doing == doingUndo || doing == doingVerify)) {
		j.to, j.was = rec.To, rec.From
		j.databases[0].DSN = WithAccount(j.was, account)
	}
	for _, address := range []string{j.was, j.to} {
		_, plain := sqldb.ParseServer(address)
		if !plain && strings.HasPrefix(address, "mysql:") { // a part of it may be the password
			return fmt.Errorf("%s: no new database can be named beside the world %q, because of the form of its DSN: "+
				"want mysql:user:password@tcp(host:port)/database", b.file, j.Name())
		}
	}
	_, name, _ := aroundName(j.to)
	j.into = merge.Database{Name: name, DSN: WithAccount(j.to, account)}
	old, _, _ := sqldb.SplitDSN(now)
	if kind, _, err := sqldb.SplitDSN(j.to); err != nil || kind != old {
		return j.wrong(b.file, "is not of the same kind as the first world's (%s): want one that is", old)
	}
	if slices.Contains(j.Worlds, name) {
		return j.wrong(b.file, "has the name of a world: want another name")
	}
	return nil
}

// wrong is an error about the new database of a merge.
func (j *job) wrong(file, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	return fmt.Errorf("%s: the new database %q of the merge %q %s", file, sqldb.Redact(j.to), j.Name(), problem)
}

// newOnes returns an error if a database that is to be made is that of a world, or of another merge.
func newOnes(file string, jobs []*job) error {
	for _, j := range jobs {
		for _, other := range jobs {
			for i, d := range other.databases {
				if same(d.DSN, j.to) {
					const want = "want one that does not exist, such as one with {n} in its name"
					return j.wrong(file, "is that of the world %q: %s", other.Worlds[i], want)
				}
			}
			if j != other && same(j.to, other.to) {
				return j.wrong(file, "is also that of the merge %q: want another name", other.Name())
			}
		}
	}
	return nil
}

// fits reports whether a plan is for the new database of the merge.
func (j *job) fits(plan *merge.Plan) bool { return plan.New.Name == j.into.Name }

// elsewhere refuses a new database without the record of a merge if the plan was made for another place, as when the first world
// was moved since: the record may be there.
func (j *job) elsewhere(ctx context.Context, plan *merge.Plan, doing string) error {
	refusal, err := merge.Elsewhere(ctx, plan, j.into)
	if err == nil && refusal != nil {
		err = &merge.RefusedError{Doing: doing, Refusals: []merge.Refusal{*refusal}}
	}
	return err
}

// databasesFor are the databases of a plan, which may be an older one of the merge.
func (r *runner) databasesFor(
	j *job, rec *record, plan *merge.Plan,
) (into merge.Database, worlds []merge.Database, err error) {
	worlds, err = r.opts.databasesOf(namesOf(plan))
	if err != nil {
		return into, nil, err
	}
	worlds[0] = j.databases[0]
	account, _ := sqldb.SplitAccount(worlds[0].DSN)
	switch {
	case j.fits(plan):
		return j.into, worlds, nil
	case rec.New == plan.New.Name:
		return merge.Database{Name: rec.New, DSN: WithAccount(rec.To, account)}, worlds, nil
	}
	return into, nil, fmt.Errorf("it makes %q, which is no longer in the campaign file; if the world is there already, "+
		"because its merge was opened and the state was lost, give the world's former database until the campaign is done",
		plan.New.Name)
}

// Places is a fleet registry that may know where the worlds of a plan are, and where their databases.
type Places interface {
	// Opened records that they are in the new database from now on, and Undone that they are in their own again.
	Opened(ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, why string) error
	Undone(ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, why string) error

	// MayUndo is the error of Undone as far as it can be known before an undo writes anything.
	MayUndo(ctx context.Context, plan *merge.Plan, worlds []merge.Database) error
}

// mayMoveBack is the error of move as far as it can be known before an undo writes anything.
func (r *runner) mayMoveBack(ctx context.Context, j *job, plan *merge.Plan) error {
	if r.opts.Places == nil {
		return nil
	}
	if err := r.opts.Places.MayUndo(ctx, plan, j.databases); err != nil {
		return fmt.Errorf("the fleet registry could not note where the worlds of %q are: %w", plan.New.Name, err)
	}
	return nil
}

// move records that the worlds go on in the new database, or back.
func (r *runner) move(ctx context.Context, j *job, plan *merge.Plan, back bool) error {
	if r.opts.Places == nil {
		return nil
	}
	tell, why := r.opts.Places.Opened, fmt.Sprintf("the merge %s was opened; before: %s", plan.ID, sqldb.Redact(j.was))
	if back {
		tell, why = r.opts.Places.Undone, fmt.Sprintf("the merge %s was undone", plan.ID)
	}
	if err := tell(ctx, plan, j.into, j.databases, why); err != nil {
		return fmt.Errorf("the fleet registry could not note where the worlds of %q are: %w", plan.New.Name, err)
	}
	return nil
}
