package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mergesafe/examples/rekey/world"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/propose"
	"mergesafe/merge/rekey"
	"mergesafe/merge/report"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// story is what is told, and where.
type story struct {
	out io.Writer
	dir string
}

func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s *story) chapter(title string) { s.say("\n== %s ==\n", title) }

func (s *story) file(name string) string { return filepath.Join(s.dir, name+".db") }

func (s *story) database(name string) transfer.Database {
	return transfer.Database{Name: name, DSN: "sqlite:" + s.file(name)}
}

// worlds are the databases of the worlds. The first keeps its keys.
func (s *story) worlds() []transfer.Database {
	return []transfer.Database{s.database("east"), s.database("west")}
}

// run tells the whole story. An error says where it went another way.
func (s *story) run(ctx context.Context) error {
	s.say("Two worlds of a game that counts its keys from 1 in each: hero 7 is there twice.")
	for _, name := range []string{"rehearsal", "chosen", "merged"} { // of an earlier run
		if err := world.Remove(s.file(name)); err != nil {
			return err
		}
	}
	for name, heroes := range map[string]int{"east": 300, "west": 240} {
		if err := world.Make(ctx, s.file(name), name, heroes); err != nil {
			return err
		}
	}
	for _, chapter := range []func(context.Context) error{s.collide, s.propose, s.rehearse, s.choose, s.merge, s.goOn} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// check checks both worlds, and wants the verdict.
func (s *story) check(ctx context.Context, o declare.Options, want verdict.Verdict) (*verdict.Report, error) {
	var sources []catalog.Source
	for _, name := range []string{"east", "west"} {
		source, err := sqlsource.Open(ctx, name, s.database(name).DSN)
		if err != nil {
			return nil, err
		}
		defer source.Close()
		sources = append(sources, source)
	}
	r, err := merge.Check(ctx, sources, o)
	if err == nil && r.Verdict != want {
		err = fmt.Errorf("the check says %s, and the story wants %s", r.Verdict, want)
	}
	return r, err
}

// collide shows what the check says of the worlds as they are.
func (s *story) collide(ctx context.Context) error {
	s.chapter("As they are, they collide")
	r, err := s.check(ctx, declare.Options{}, verdict.Fail)
	if err != nil {
		return err
	}
	for _, result := range r.Results {
		if result.Verdict == verdict.Fail && result.Code == verdict.CodeKeyCollision {
			s.say("   %-6s %s %s: %s", result.Verdict, result.Table, result.Subject, result.Message)
		}
	}
	return nil
}

// propose shows what the columns seem to be, and what is open until a person says so.
func (s *story) propose(ctx context.Context) error {
	s.chapter("What refers to these keys? The proposal, to be read by a person")
	r, err := s.check(ctx, declare.Options{Propose: true, Rekey: &declare.Rekey{Auto: true}}, verdict.Fail)
	if err != nil {
		return err
	}
	var rules bytes.Buffer
	if err := propose.WriteRules(r, &rules); err != nil {
		return err
	}
	shown := 0
	for line := range strings.Lines(rules.String()) {
		if line = strings.TrimRight(line, "\n"); line != "" && shown < 24 && len(line) < 110 {
			s.say("   | %s", line)
			shown++
		}
	}
	s.say("   | ...")
	for _, c := range r.Proposed.Columns {
		if len(c.Counts) > 0 {
			s.say("   perhaps a counter: %s.%s", c.Table, c.Column)
		}
	}
	open := 0
	for _, result := range r.Results {
		if result.Open != nil {
			open++
		}
	}
	s.say("   %d columns are open: a merge with new keys is refused until it is said what they are.", open)
	r, err = s.check(ctx, reviewed(), verdict.Pass)
	if err != nil {
		return err
	}
	s.say("   With the reviewed rules the check says %s.", r.Verdict)
	return nil
}

// plan plans a new database of both worlds.
func (s *story) plan(ctx context.Context, name string, rules declare.Options) (*transfer.Plan, error) {
	plan, err := transfer.NewPlan(ctx, s.database(name), s.worlds(), transfer.PlanOptions{Check: rules})
	if err == nil && len(plan.Refusals) > 0 {
		err = fmt.Errorf("the merge is refused: %s", plan.Refusals[0])
	}
	return plan, err
}

// make makes a new database of both worlds, and proves it.
func (s *story) make(ctx context.Context, name string, rules declare.Options) (*transfer.Plan, *transfer.Proof, error) {
	into := s.database(name)
	plan, err := s.plan(ctx, name, rules)
	if err != nil {
		return nil, nil, err
	}
	if _, err := transfer.Apply(ctx, plan, into, s.worlds(), transfer.Options{}); err != nil {
		return nil, nil, err
	}
	proof, err := transfer.Verify(ctx, plan, into, s.worlds(), transfer.Options{})
	if err != nil {
		return nil, nil, err
	}
	if proof.Verdict != verdict.Pass {
		return nil, nil, fmt.Errorf("the proof says %s, and the story wants %s", proof.Verdict, verdict.Pass)
	}
	s.say("   %s is made, of %d rows of east and west; %d is added to every key of west.", s.file(name), plan.Rows(), plan.Rekey.Offset("heroes.id", "west"))
	return plan, proof, nil
}

// rehearse makes a new database of worlds that may still run, and drops it.
func (s *story) rehearse(ctx context.Context) error {
	s.chapter("The rehearsal (apply -try): a new database of both worlds, while players play")
	plan, err := s.plan(ctx, "rehearsal", reviewed())
	if err != nil {
		return err
	}
	tried, err := transfer.Apply(ctx, plan, s.database("rehearsal"), s.worlds(), transfer.Options{Try: true})
	if err != nil {
		return err
	}
	s.say("   %s is made, of %d rows; in %d tables rows were changed since the plan.", s.file("rehearsal"), tried.Rows, len(tried.Changed))
	s.say("   Boot the game on it: an undeclared reference breaks visibly there, and not on the night of the merge.")
	if err := s.drop(ctx, plan, "rehearsal"); err != nil {
		return err
	}
	s.say("   It can never be opened, and undo drops it again. Nothing was written in east and west.")
	return nil
}

// drop takes a merge into a new database back.
func (s *story) drop(ctx context.Context, plan *transfer.Plan, name string) error {
	undone, err := transfer.Undo(ctx, plan, s.database(name), s.worlds(), transfer.UndoOptions{})
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.file(name)); !undone.Dropped || !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is still there: %w", s.file(name), err)
	}
	return nil
}

// choose makes a new database to which not all come, shows who stays, and drops it.
func (s *story) choose(ctx context.Context) error {
	s.chapter("Who comes? By the rules of leave.toml, as two merges announced them")
	plan, proof, err := s.make(ctx, "chosen", leaving())
	if err != nil {
		return err
	}
	var shown, list bytes.Buffer
	each, end := report.FatesCSV(&list)
	if err := errors.Join(report.WriteFates(&shown, report.TextOptions{}, plan), transfer.EachFate(plan, each), end()); err != nil {
		return err
	}
	lines := strings.Split(shown.String(), "\n")
	for _, line := range lines[:min(12, len(lines))] {
		s.say("   %s", line)
	}
	s.say("   servermerge whois -csv lists each row:")
	for _, line := range strings.Split(list.String(), "\n")[:4] {
		s.say("   | %s", line)
	}
	s.say("   %s: exactly these rows stayed, by a proof of its own, and nothing that came refers to them.", proof.Verdict)
	return s.drop(ctx, plan, "chosen")
}

// merge makes the new database that stays, shows the proof, and opens it.
func (s *story) merge(ctx context.Context) error {
	s.chapter("The merge, its proof, and the opening")
	plan, proof, err := s.make(ctx, "merged", reviewed())
	if err != nil {
		return err
	}
	for _, k := range proof.Keys {
		if k.Part == transfer.PartSums {
			continue // this game declares none
		}
		s.say("   %s  %s: %d %s", k.Verdict, k.Part, k.Checked, k.Of)
	}
	s.say("   %s.", proof.Limit)
	if _, err := transfer.Open(ctx, plan, s.database("merged"), s.worlds(), transfer.OpenOptions{}); err != nil {
		return err
	}
	s.say("   %s is open: the game of east is pointed to it. No row of the old databases was written.", s.file("merged"))
	return nil
}

// goOn asks where a key came from, and lets the game make new ones.
func (s *story) goOn(ctx context.Context) error {
	s.chapter("Who was that? And play continues")
	there, err := transfer.Whereis(ctx, s.database("merged"), "west", "heroes", rekey.Signed(7))
	if err != nil {
		return err
	}
	if len(there) != 1 {
		return errors.New("hero 7 of west is not to be found")
	}
	friend := there[0].New
	back, err := transfer.Whois(ctx, s.database("merged"), "heroes", friend)
	if err != nil {
		return err
	}
	s.say("   %s", strings.ReplaceAll(report.WhoisText("merged", "", "heroes", friend, back), "\n", "\n   "))
	hero, item, err := world.Play(ctx, s.file("merged"), int64(friend.Bits))
	if err != nil {
		return err
	}
	s.say("   hero %d is born, finds item %d, and sends it to hero %s: no number is anybody else's.", hero, item, friend)
	if way, err := transfer.Whois(ctx, s.database("merged"), "heroes", rekey.Signed(hero)); err != nil || len(way) > 0 {
		return errors.Join(err, fmt.Errorf("hero %d came by a merge", hero))
	}
	return nil
}
