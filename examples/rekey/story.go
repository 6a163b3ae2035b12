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

// run tells the whole story. An error says where it went another way.
func (s *story) run(ctx context.Context) error {
	s.say("Two worlds of a game that counts its keys from 1 in each: hero 7 is there twice.")
	for name, heroes := range map[string]int{"east": 300, "west": 240} {
		if err := makeWorld(ctx, s.file(name), name, heroes); err != nil {
			return err
		}
	}
	for _, chapter := range []func(context.Context) error{s.collide, s.propose, s.rehearse, s.merge, s.goOn} {
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
	for _, c := range r.Proposed.Counters {
		s.say("   perhaps a counter: %s", c)
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

// carryOut plans, merges and proves.
func (s *story) carryOut(ctx context.Context, into string, show bool) error {
	target, sources := s.database(into), []transfer.Database{s.database("west")}
	plan, err := transfer.NewPlan(ctx, target, sources, transfer.PlanOptions{Check: reviewed(), NoFence: true})
	if err != nil {
		return err
	}
	if len(plan.Refusals) > 0 {
		return fmt.Errorf("the merge is refused: %s", plan.Refusals[0])
	}
	if _, err := transfer.Apply(ctx, plan, target, sources, transfer.Options{}); err != nil {
		return err
	}
	proof, err := transfer.Verify(ctx, plan, target, sources, transfer.Options{})
	if err != nil {
		return err
	}
	if proof.Verdict != verdict.Pass {
		return fmt.Errorf("the proof says %s, and the story wants %s", proof.Verdict, verdict.Pass)
	}
	s.say("   %d rows came; %d is added to every key of west.", plan.Rows(), plan.Rekey.Offset("heroes.id", "west"))
	if show {
		for _, k := range proof.Keys {
			if k.Part == transfer.PartSums {
				continue // this game declares none
			}
			s.say("   %s  %s: %d %s", k.Verdict, k.Part, k.Checked, k.Of)
		}
		s.say("   %s.", proof.Limit)
	}
	return nil
}

// rehearse merges into a copy.
func (s *story) rehearse(ctx context.Context) error {
	s.chapter("The rehearsal, on a copy")
	for _, name := range []string{"rehearsal", "merged"} {
		b, err := os.ReadFile(s.file("east"))
		if err == nil {
			err = errors.Join(os.RemoveAll(s.file(name)+"-wal"), os.RemoveAll(s.file(name)+"-shm"), os.WriteFile(s.file(name), b, 0o666))
		}
		if err != nil {
			return err
		}
	}
	err := s.carryOut(ctx, "rehearsal", false)
	if err == nil {
		s.say("   Boot the game on %s: an undeclared reference breaks visibly there, and not on the night of the merge.", s.file("rehearsal"))
	}
	return err
}

// merge carries the merge out, and shows the proof.
func (s *story) merge(ctx context.Context) error {
	s.chapter("The merge, and its proof")
	return s.carryOut(ctx, "merged", true)
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
	hero, item, err := play(ctx, s.file("merged"), int64(friend.Bits))
	if err != nil {
		return err
	}
	s.say("   hero %d is born, finds item %d, and sends it to hero %s: no number is anybody else's.", hero, item, friend)
	if way, err := transfer.Whois(ctx, s.database("merged"), "heroes", rekey.Signed(hero)); err != nil || len(way) > 0 {
		return errors.Join(err, fmt.Errorf("hero %d came by a merge", hero))
	}
	return nil
}
