package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/agenda"
	"mergesafe/merge/progress"
	"mergesafe/merge/transfer"
)

// A merge into a new database is made beside all its worlds: see [transfer.Plan.Into]. The target
// of the campaign file is its first world, which is in the new database when that is open.
//
// The addresses of databases in this file are DSNs without user and password, so that files, hooks
// and pages may have them. The account is that of the target.

// withoutAccount divides a DSN into the account, with the @ behind it, and the address.
func withoutAccount(dsn string) (account, address string) {
	prefix := string(sqldb.MySQL) + ":"
	rest, ok := strings.CutPrefix(dsn, prefix)
	if !ok {
		return "", dsn
	}
	at := strings.LastIndexByte(rest[:max(0, strings.LastIndexByte(rest, '/'))], '@') // as the driver looks for it
	return rest[:at+1], prefix + rest[at+1:]
}

// withAccount is the DSN of an address.
func withAccount(address, account string) string {
	if rest, ok := strings.CutPrefix(address, string(sqldb.MySQL)+":"); ok {
		return string(sqldb.MySQL) + ":" + account + rest
	}
	return address
}

// aroundName divides an address into the name of its database and what is around that.
func aroundName(address string) (before, name, after string) {
	mysql := strings.HasPrefix(address, string(sqldb.MySQL)+":")
	end := len(address) - len(filepath.Ext(address))
	at := strings.LastIndexAny(address, `:/\`) + 1
	if mysql {
		at = strings.LastIndexByte(address, '/') + 1
		end = at + len(address[at:])
		if i := strings.IndexByte(address[at:], '?'); i >= 0 {
			end = at + i
		}
	}
	end = max(at, end)
	return address[:at], address[at:end], address[end:]
}

// shownPlace is an address as hooks get it: without parameters; "" if there is none.
func shownPlace(address string) string {
	if address == "" {
		return ""
	}
	return sqldb.Redact(address)
}

// newAddress is where the new database of a world is to be: beside the one at the address now, unless
// the text is an address. {target} is the world's name, and {n} is one more than the number that the
// name of its database has there now, or 2: names do not grow if the result of one merge is merged
// again. If the world itself has the name that was made for it, its number counts the same way.
func newAddress(text, world, now string) string {
	before, had, after := aroundName(now)
	name := text
	if strings.Contains(text, ":") {
		before, after = "", ""
		_, name, _ = aroundName(text)
	}
	mark, _, counts := strings.Cut(name, agenda.IntoNumber)
	_, mark, targeted := cutLast(mark, agenda.IntoTarget)
	number := 1
	if counts {
		if rest, digits, _ := cutLast(had, mark); rest != "" || !targeted {
			number = max(number, numberIn(digits))
		}
		if rest, digits, _ := cutLast(world, mark); targeted && rest != "" && numberIn(digits) > 0 {
			world, number = rest, max(number, numberIn(digits))
		}
	}
	return before + strings.NewReplacer(agenda.IntoTarget, world, agenda.IntoNumber, strconv.Itoa(number+1)).Replace(text) + after
}

// cutLast divides a text at the last place where it has another; after is all of it if it has not.
func cutLast(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(at):], true
}

// numberIn is the number that a text is; 0 if it is none.
func numberIn(digits string) int {
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// findInto finds the new database of a merge, if it gets one. That of a merge that has begun is the one
// of its plan: then the target's own database is where it was before, also if the world was moved to
// the new one. So is that of a merge to be undone or proved.
func (b *Book) findInto(ctx context.Context, j *job, doing string) error {
	var rec *record
	err := b.look(ctx, func(ctx context.Context, s state) (err error) {
		rec, err = s.merge(ctx, j.Merge)
		return err
	})
	if err != nil {
		return err
	}
	account, now := withoutAccount(j.databases[0].DSN)
	j.was = now
	asPlanned := rec.begun() || rec.Plan != "" && (doing == doingUndo || doing == doingVerify)
	switch {
	case asPlanned && rec.To == "", !asPlanned && j.Into == "":
		return nil
	case asPlanned:
		j.to, j.was = rec.To, rec.Was
		j.databases[0].DSN = withAccount(j.was, account)
	default:
		j.to = newAddress(j.Into, j.Target, now)
	}
	for _, address := range []string{j.was, j.to} {
		_, plain := sqldb.ParseServer(address)
		if !plain && strings.HasPrefix(address, "mysql:") { // a part of it may be the password
			return fmt.Errorf("%s: the DSN of the world %q is not in a form beside which a database can be named: "+
				"want mysql:user:password@tcp(host:port)/database", b.file, j.Target)
		}
	}
	_, name, _ := aroundName(j.to)
	j.into = &transfer.Database{Name: name, DSN: withAccount(j.to, account)}
	old, _, _ := sqldb.SplitDSN(now)
	if kind, _, err := sqldb.SplitDSN(j.to); err != nil || kind != old {
		return j.wrong(b.file, "is not of the kind of the target's (%s): want one of the same kind", old)
	}
	if slices.Contains(j.Worlds(), name) {
		return j.wrong(b.file, "has the name of a world: want another one")
	}
	return nil
}

// wrong is an error about the new database of a merge.
func (j *job) wrong(file, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	return fmt.Errorf("%s: the new database %q of the merge into %q %s", file, sqldb.Redact(j.to), j.Target, problem)
}

// newOnes returns an error if a database that is to be made is that of a world, or of another merge.
func newOnes(file string, jobs []*job) error {
	for _, j := range jobs {
		for _, other := range jobs {
			for i, d := range other.databases {
				if j.into != nil && sameDatabase(d.DSN, j.to) {
					const want = "want one that does not exist, such as one with {n} in its name"
					return j.wrong(file, "is that of the world %q: %s", other.Worlds()[i], want)
				}
			}
			if j != other && j.into != nil && other.into != nil && sameDatabase(j.to, other.to) {
				return j.wrong(file, "is that of the merge into %q, too: want another name", other.Target)
			}
		}
	}
	return nil
}

// sameDatabase reports whether two DSNs name one database, by what they say.
func sameDatabase(a, b string) bool {
	first, ok1 := sqldb.ParseServer(a)
	second, ok2 := sqldb.ParseServer(b)
	if ok1 && ok2 {
		return first.Address == second.Address && strings.EqualFold(first.Database, second.Database)
	}
	x, err1 := filepath.Abs(strings.TrimPrefix(a, "sqlite:"))
	y, err2 := filepath.Abs(strings.TrimPrefix(b, "sqlite:"))
	return ok1 == ok2 && err1 == nil && err2 == nil && x == y
}

// fits reports whether a plan is for the new database of the merge, or for none as the merge.
func (j *job) fits(plan *transfer.Plan) bool {
	return (plan.Into == nil) == (j.into == nil) && (j.into == nil || plan.Into.Name == j.into.Name)
}

// databasesFor are the databases of a plan, which may be an older one of the merge.
func (r *runner) databasesFor(
	j *job, rec *record, plan *transfer.Plan,
) (target transfer.Database, sources []transfer.Database, err error) {
	of, err := r.opts.databasesOf(namesOf(plan))
	if err != nil {
		return target, nil, err
	}
	of[0] = j.databases[0]
	if plan.Into == nil {
		return of[0], of[1:], nil
	}
	account, _ := withoutAccount(of[0].DSN)
	switch {
	case j.fits(plan):
		return *j.into, of, nil
	case rec.Into == plan.Into.Name:
		return transfer.Database{Name: rec.Into, DSN: withAccount(rec.To, account)}, of, nil
	}
	return target, nil, fmt.Errorf("it makes %q, which the campaign file does not name now; if the world is there already, "+
		"because its merge was opened and the state was lost, name its former database for it until the campaign is done with it",
		plan.Into.Name)
}

// Places is a fleet registry that may know where the databases of worlds are.
type Places interface {
	// Move sets the place of a world to an address without user and password, if it has a place: if
	// from is not empty, only if it is that.
	Move(ctx context.Context, world, from, to, why string) error
}

// move sets the place of the target's world to its new database, or back.
func (r *runner) move(ctx context.Context, j *job, plan *transfer.Plan, back bool) error {
	if r.opts.Places == nil || j.into == nil {
		return nil
	}
	from, to, why := "", j.to, fmt.Sprintf("the merge %s was opened; before: %s", plan.ID, sqldb.Redact(j.was))
	if back {
		from, to, why = j.to, j.was, fmt.Sprintf("the merge %s was undone", plan.ID)
	}
	if err := r.opts.Places.Move(ctx, j.Target, from, to, why); err != nil {
		return fmt.Errorf("the place of %q in the fleet registry could not be set: %w", j.Target, err)
	}
	return nil
}

// open opens the new database of a merge, which was proved. From then on the world may be started there.
func (t *attempt) open(ctx context.Context, options transfer.Options) ending {
	t.r.update(t.job.Merge, "", "", func(rec *record) { rec.Phase, rec.Active = progress.Opening, true })
	began := t.r.book.now()
	opened, err := transfer.Open(ctx, t.plan, t.job.target(), t.job.sources(), transfer.OpenOptions{
		Options: options,
		Placing: func(ctx context.Context) error { return t.r.move(ctx, t.job, t.plan, false) },
	})
	if err != nil {
		return t.fail(ctx, "open", err)
	}
	o := t.r.outcome("open", t.plan, began, nil)
	o.Opened = opened
	reports := t.r.report(t.job, o, "open")
	text := fmt.Sprintf("every row is as it was planned, and %s is open", t.plan.Into.Name)
	t.r.update(t.job.Merge, agenda.KindVerified, text, func(rec *record) {
		rec.rest(progress.Verified, "", nil, reports)
		rec.Open = true
	})
	return done
}

// isMade reports whether all of a merge is there, of one into a new database also before it is open.
func isMade(s transfer.State) bool {
	return slices.Contains([]transfer.State{transfer.StateMade, transfer.StateProved, transfer.StateCopied}, s)
}

// nothingMade reports whether there is no new database of a merge, and no fence of it.
func nothingMade(ctx context.Context, j *job, plan *transfer.Plan) bool {
	if plan.Into == nil {
		return false
	}
	at, err := begunAlready(ctx, plan, j.target(), j.sources())
	return err == nil && at == nil
}
