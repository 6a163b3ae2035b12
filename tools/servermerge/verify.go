package main

import (
	"context"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
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
	defer j.page.Close()
	w := s.watch(spare, j.all())
	proof, err := transfer.Verify(ctx, j.plan, j.target, j.sources, w.working(options))
	w.close()
	if err != nil {
		return unread(ctx, err, "no verdict")
	}
	d, m := j.document("verify", done), &htmlreport.Merge{Command: "verify"}
	d.Proof = proof
	j.sayProved(m, proof)
	switch proof.Verdict {
	case merge.Pass:
	case merge.Fail:
		d.Outcome = differs
	default:
		d.Outcome = notVerified
	}
	return j.conclude(ctx, d, m, proofTables(m, proof))
}

// sayProved says what a proof means, and in what tables are not as planned.
func (j *job) sayProved(m *htmlreport.Merge, proof *transfer.Proof) {
	sources, target := list(sourceNames(j.plan)), printable.Text(j.plan.Target.Name)
	m.Outcome = string(proof.Verdict)
	switch proof.Verdict {
	case merge.Pass:
		m.Sentence = fmt.Sprintf("every row of %s is in %s as it was planned, %s has its own rows as before, and nothing else", sources, target, target)
		m.Next = append(m.Next, htmlreport.Step{Text: fmt.Sprintf("Start the game server of %s. Keep %s as they are for as long as an undo may be wanted.", target, sources)})
		if commands := retire(j.plan); len(commands) > 0 {
			m.Next = append(m.Next, htmlreport.Step{Text: "After that, where there is a fleet registry:", Commands: commands})
		}
	case merge.Fail:
		m.Sentence = fmt.Sprintf("%s is not what was planned", target)
		m.Next = append(m.Next, htmlreport.Step{
			Text:     fmt.Sprintf("Do not start a game server on %s. Look at what differs; to take the merge back:", target),
			Commands: []string{j.command("undo")},
		})
	default:
		m.Sentence = fmt.Sprintf("every row of %s is in %s as it was planned, but the check of the result could not look at everything", sources, target)
		m.Next = append(m.Next, htmlreport.Step{Text: fmt.Sprintf("Look yourself at what it names, before you start the game server of %s.", target)})
	}
	m.Unequal = make(map[string][]string)
	for _, t := range proof.Tables {
		m.Unequal[t.Table] = unequal(t, target)
	}
}

// proofTables are the tables of a proof, and what the check of the result finds.
func proofTables(m *htmlreport.Merge, proof *transfer.Proof) string {
	var b strings.Builder
	width := cli.Width("table")
	for _, t := range proof.Tables {
		width = max(width, cli.Width(printable.Text(t.Table)))
	}
	fmt.Fprintf(&b, "\n  %s  %14s  %14s\n", cli.Pad("table", width), "rows", "planned")
	for _, t := range proof.Tables {
		fmt.Fprintf(&b, "  %s  %14s  %14s  %s\n", cli.Pad(printable.Text(t.Table), width), printable.Number(t.Rows), printable.Number(t.Want), t.Verdict)
		for _, line := range m.Unequal[t.Table] {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if len(proof.Findings) > 0 {
		b.WriteString("\nThe check of the result finds:\n")
		writeRefusals(&b, proof.Findings)
	}
	b.WriteString("\n")
	return b.String()
}

// retire are the commands that put the numbers of servers that ended out of use.
func retire(p *transfer.Plan) (commands []string) {
	var ended []string
	for _, w := range p.Sources {
		for _, s := range w.Servers {
			if s.Own {
				ended = append(ended, s.Server.String())
			}
		}
	}
	for i, server := range ended {
		if i == shownServers {
			return append(commands, fmt.Sprintf("and so on for %d more", len(ended)-i))
		}
		commands = append(commands, fmt.Sprintf("gameid servers retire -reason %s %s", quoted("merged into "+p.Target.Name), server))
	}
	return commands
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
