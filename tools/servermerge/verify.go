package main

import (
	"context"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/transfer"
)

func (s surroundings) verifyCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "verify",
		Description: helpVerify,
		Flags:       workFlags(),
		Action:      s.verify,
	}
}

func (s surroundings) verify(ctx context.Context, cmd *cliv3.Command) error {
	j, options, spare, err := s.work(cmd)
	if err != nil {
		return err
	}
	w := s.watch(spare, j.all())
	options.Progress, options.Waiting = w.reading(ctx), w.progress.waits
	proof, err := transfer.Verify(ctx, j.plan, j.target, j.sources, options)
	w.close()
	if err != nil {
		return unread(ctx, err, "no verdict")
	}
	d := j.document("verify", done)
	switch proof.Verdict {
	case merge.Pass:
	case merge.Fail:
		d.Outcome = differs
	default:
		d.Outcome = notVerified
	}
	d.Proof = proof
	return d.print(cmd.Root().Writer, cmd.Bool("json"), proofText(j, proof))
}

func proofText(j *job, proof *transfer.Proof) string {
	var b strings.Builder
	sources, target := list(sourceNames(j.plan)), printable.Text(j.plan.Target.Name)
	switch proof.Verdict {
	case merge.Pass:
		fmt.Fprintf(&b, "PASS  every row of %s is in %s as it was planned, %s has its own rows as before, and nothing else\n", sources, target, target)
	case merge.Fail:
		fmt.Fprintf(&b, "FAIL  %s is not what was planned\n", target)
	default:
		fmt.Fprintf(&b, "NOT VERIFIED  every row of %s is in %s as it was planned, but the check of the result could not look at everything\n", sources, target)
	}
	width := len("table")
	for _, t := range proof.Tables {
		width = max(width, len(printable.Text(t.Table)))
	}
	fmt.Fprintf(&b, "\n  %-*s  %14s  %14s\n", width, "table", "rows", "planned")
	for _, t := range proof.Tables {
		fmt.Fprintf(&b, "  %-*s  %14s  %14s  %s\n", width, printable.Text(t.Table), printable.Number(t.Rows), printable.Number(t.Want), t.Verdict)
		for _, line := range unequal(t, target) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if len(proof.Findings) > 0 {
		b.WriteString("\nThe check of the result finds:\n")
		writeRefusals(&b, proof.Findings)
	}
	if proof.Verdict == merge.Fail {
		fmt.Fprintf(&b, "\nDo not start a game server on %s. What was changed since the merge is named above; to take the merge back:\n  %s\n", target, j.command("undo"))
	}
	if proof.Verdict == merge.Pass {
		fmt.Fprintf(&b, "\nNext: start the game server of %s. Keep %s as they are for as long as an undo may be wanted.\n", target, sources)
		retire(&b, j.plan)
	}
	return b.String()
}

// retire says how the numbers of servers that ended are put out of use.
func retire(b *strings.Builder, p *transfer.Plan) {
	var ended []string
	for _, w := range p.Sources {
		for _, s := range w.Servers {
			if s.Own {
				ended = append(ended, s.Server.String())
			}
		}
	}
	if len(ended) == 0 {
		return
	}
	b.WriteString("After that, where there is a fleet registry:\n")
	for i, server := range ended {
		if i == shownServers {
			fmt.Fprintf(b, "  and so on for %d more\n", len(ended)-i)
			break
		}
		fmt.Fprintf(b, "  gameid servers retire -reason %s %s\n", quoted("merged into "+p.Target.Name), server)
	}
}

// shownServers is how many servers are shown to be retired.
const shownServers = 10

// unequal says in what a table is not as planned.
func unequal(t transfer.TableProof, target string) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if t.Missing > 0 {
		add("%s not there", printable.Count(t.Missing, "row of the sources is", "rows of the sources are"))
	}
	if t.Changed > 0 {
		add("%s other values than planned", printable.Count(t.Changed, "row has", "rows have"))
	}
	if t.Own {
		add("rows of %s itself are not those of the plan, or rows came from elsewhere", target)
	}
	if len(t.Sources) > 0 {
		add("%s changed since the plan: somebody writes there", list(t.Sources))
	}
	lines = append(lines, differences(t.Samples, t.Missing+t.Changed)...)
	return lines
}

// differences shows samples of a number of rows.
func differences(samples []transfer.Difference, all int64) (lines []string) {
	for _, d := range samples {
		lines = append(lines, printable.Text(d.String()))
	}
	if n := all - int64(len(samples)); len(samples) > 0 && n > 0 {
		lines = append(lines, "and "+printable.Number(n)+" more")
	}
	return lines
}
