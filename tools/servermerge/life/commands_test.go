package life

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"mergesafe/internal/config"
	"mergesafe/merge"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/databases"
)

// The words of the design for the state of a merge.
const (
	none      = "NOT BEGUN"
	tried     = "TRIED"
	copying   = "COPYING"
	made      = "MADE"
	opening   = "OPENING"
	opened    = "OPEN"
	undoing   = "UNDOING"
	planAgain = "PLAN AGAIN"
)

// The words with which a command ends.
const (
	ready       = "READY"
	done        = "DONE"
	pass        = "PASS"
	fail        = "FAIL"
	notVerified = "NOT VERIFIED"
	refused     = "REFUSED"
	changed     = "CHANGED" // a world is not as planned
	nothing     = "NOTHING" // to undo
	stopped     = "STOPPED" // the same command continues
	failed      = "ERROR"
	killed      = "KILLED"
)

// merge is a plan, with what the operator knows of it.
type aMerge struct {
	name   string // for messages
	worlds []string
	into   string // the name of the new database

	plan *merge.Plan
	chosen
	file    string            // of the plan, for the program
	planned []content         // the worlds as they were then
	tables  []string          // of each world, then: its number and name
	led     map[string]string // where the names of config.toml led then
	raised  bool              // an undo may have raised something since
	odd     bool              // an event came in between: nothing has to work any more

	given       bool // another merge has given keys of the fleet since the plan
	open        bool // it was, after the last step
	interrupted bool // the last command that began did not come to its end
}

// answer is how a command ended.
type answer struct {
	word   string
	reason string
	about  []string // the databases that its refusals are about
}

// tools are the commands, as a library in this process or as the program.
type tools interface {
	plan(l *life, m *aMerge, f *fault) answer
	run(l *life, m *aMerge, command string, f *fault) answer
	status(l *life, m *aMerge) (string, error)
}

// ---------------------------------------------------------------- the library

type library struct {
	requests map[string][]string // of each command that is not disturbed, by the kind of the game and the state of the merge
	learnt   bool                // all of them are known
}

// of are the requests of a command.
func (lib *library) of(l *life, command string) []string {
	if all := lib.requests[l.kind+command+l.was]; len(all) > 0 {
		return all
	}
	var most []string // in a state in which it was not measured
	for what, all := range lib.requests {
		if strings.HasPrefix(what, l.kind+command) && len(all) > len(most) {
			most = all
		}
	}
	return most
}

// rules are how the game of the reference is merged; the program has them as text.
func rulesOf() merge.PlanOptions {
	counter := rules.CounterRow{At: "seq.next", When: &rules.When{Column: "name", Is: []string{"pl"}}, Space: "pl.id"}
	return merge.PlanOptions{
		Check: rules.Options{
			Rules: []rules.Declarations{{
				Plain:      []string{"pl.gold", "item.n", "mail.n"},
				References: []rules.DeclaredReference{{At: []string{"item.owner", "mail.owner"}, To: []string{"pl.id"}}},
			}},
			Rekey:  &rules.Rekey{Auto: true, Counters: []rules.CounterRow{counter}},
			Tables: []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}, {Tables: []string{"kind"}, Policy: rules.PolicySame}},
		},
		Names: []merge.NamePolicy{{Table: "pl", Column: "name", Template: "{name}.{source}"}},
	}
}

func (lib *library) start(l *life, command string, f *fault) (context.Context, func(answer) answer) {
	if l.diskFull {
		f.full = func() bool { return l.there(l.config[l.current.into]) }
	}
	ctx, stop := context.WithCancel(context.Background())
	if l.beside { // it may wait for a lock of the process that is frozen
		ctx, stop = context.WithTimeout(ctx, time.Second)
	}
	return f.in(ctx, lib.of(l, command)), func(a answer) answer {
		stop()
		if !lib.learnt {
			lib.requests[l.kind+command+l.was] = f.all
		}
		if f.died {
			a = answer{word: killed}
		}
		return a
	}
}

func (lib *library) plan(l *life, m *aMerge, f *fault) answer {
	ctx, end := lib.start(l, "plan", f)
	into, worlds := l.databases(m)
	options := rulesOf()
	options.Elsewhere = l.registry().Elsewhere(func(string) {})
	p, err := merge.NewPlan(ctx, into, worlds, options)
	if err != nil {
		return end(ended(err))
	}
	m.plan = p
	if len(p.Refusals) > 0 {
		return end(answer{word: refused, reason: fmt.Sprint(p.Refusals)})
	}
	return end(answer{word: ready})
}

func (lib *library) run(l *life, m *aMerge, command string, f *fault) answer {
	ctx, end := lib.start(l, command, f)
	into, worlds := l.databases(m)
	options := merge.Options{RetryFor: -1, Parallel: 1, Grace: time.Millisecond}
	if l.calm(f) {
		options.RetryFor = time.Minute
	}
	registry := l.registry()
	options.Elsewhere = registry.Elsewhere(func(string) {})
	var err error
	switch command {
	case "try", "apply":
		options.Try = command == "try"
		_, err = merge.Apply(ctx, m.plan, into, worlds, options)
	case "verify":
		var proof *merge.Proof
		if proof, err = merge.Verify(ctx, m.plan, into, worlds, options); err == nil {
			return end(proved(proof))
		}
	case "open":
		placing := func(ctx context.Context) error { return registry.Opened(ctx, m.plan, into, worlds, "it was opened") }
		var opened *merge.Opened
		opened, err = merge.Open(ctx, m.plan, into, worlds, merge.OpenOptions{Options: options, Placing: f.mortal(placing)})
		if errors.Is(err, merge.ErrNotProved) {
			return end(proved(opened.Proof))
		}
	case "undo", "undo -force":
		placing := func(ctx context.Context) error { return registry.Undone(ctx, m.plan, into, worlds, "it was undone") }
		_, err = merge.Undo(ctx, m.plan, into, worlds, merge.UndoOptions{Options: options, Force: command == "undo -force",
			MayPlace: func(ctx context.Context) error { return registry.MayUndo(ctx, m.plan, worlds) }, Placing: f.mortal(placing)})
	}
	return end(ended(err))
}

func (lib *library) status(l *life, m *aMerge) (string, error) {
	into, worlds := l.databases(m)
	at, err := merge.LookUp(context.Background(), m.plan, into, worlds)
	if err != nil {
		return "", err
	}
	return words[string(at.State)], nil
}

// registry is the fleet registry; none if the games have none.
func (l *life) registry() databases.Registry {
	r := databases.Registry{By: "life"}
	if l.kind == fleetKind {
		r.DSN = config.NewSecret(l.fleetDSN())
	}
	return r
}

func proved(p *merge.Proof) answer {
	text, _ := json.Marshal(p)
	word := map[verdict.Verdict]string{verdict.Pass: pass, verdict.Fail: fail, verdict.NotVerified: notVerified}[p.Verdict]
	return answer{word: word, reason: string(text)}
}

// ended is what the tool says of an error.
func ended(err error) answer {
	if err == nil {
		return answer{word: done}
	}
	a := answer{word: failed, reason: err.Error()}
	no, isRefused := errors.AsType[*merge.RefusedError](err)
	_, isChanged := errors.AsType[*merge.ChangedError](err)
	switch {
	case isChanged:
		a.word = changed
	case isRefused:
		a.word = refused
		for _, r := range no.Refusals {
			a.about = append(a.about, r.Source)
		}
	case errors.Is(err, merge.ErrNoMerge):
		a.word = nothing
	case errors.Is(err, merge.ErrStopped):
		a.word = stopped
	}
	return a
}
