package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/merge/progress"
	"mergesafe/tools/internal/cli"
)

func rehearseCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "rehearse",
		Flags:  append(workFlags(), &cliv3.StringFlag{Name: "dir"}, &cliv3.StringFlag{Name: "on"}, &cliv3.BoolFlag{Name: "keep"}),
		Action: s.on((*night).rehearse)}
}

func (n *night) rehearse(ctx context.Context) error {
	cmd := n.cmd
	o, err := n.options(ctx)
	if err != nil {
		return err
	}
	if on := cmd.String("on"); on != "" && !strings.HasPrefix(on, "mysql:") {
		return cli.Usage("-on: want the DSN of a server without a database, mysql:USER:PASSWORD@tcp(HOST:PORT)/")
	}
	w := n.watch(ctx)
	how := campaign.Rehearsal{Folder: cmd.String("dir"), Server: cmd.String("on"), Keep: cmd.Bool("keep")}
	result, err := campaign.Rehearse(ctx, n.book, o, how)
	w.close()
	if err != nil {
		return n.failed(err)
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		err = cli.WriteJSON(out, result)
	} else {
		err = writeRehearsed(out, n.book.Campaign().Name, result)
	}
	if code := rehearsedCode(result); err == nil && code != cli.OK {
		return code
	}
	return err
}

// rehearsedCode is the exit code of a rehearsal.
func rehearsedCode(r *campaign.Rehearsed) cli.Code {
	code := cli.OK
	for _, m := range r.Merges {
		switch m.Phase {
		case progress.Verified:
		case progress.Copied:
			code = max(code, cli.NotVerified)
		default:
			return cli.Conflicts
		}
	}
	return code
}

// mostLeft is how many parts of worlds are named that are not in the copies.
const mostLeft = 20

// kindsOf says how many parts of worlds of each kind are not in the copies: each is "w1: view v".
func kindsOf(left []string) string {
	many := map[string]int64{}
	for _, what := range left {
		_, what, _ = strings.Cut(what, ": ")
		kind, _, _ := strings.Cut(what, " ")
		many[strings.TrimSuffix(kind, ":")]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(many)) {
		if kind == "triggers" { // that the account is not shown
			parts = append(parts, "triggers that the account does not see")
			continue
		}
		parts = append(parts, printable.Count(many[kind], kind, kind+"s"))
	}
	return printable.List(parts, ", ", len(parts))
}

func writeRehearsed(out io.Writer, name string, r *campaign.Rehearsed) error {
	var b strings.Builder
	verified := count(&progress.Status{Merges: r.Merges}).verified
	fmt.Fprintf(&b, "REHEARSED: %s: %d of %s verified on copies, in %s; the worlds were copied in %s\n\n", printable.Text(name),
		verified, printable.Count(int64(len(r.Merges)), "merge", "merges"), printable.Seconds(r.Took), printable.Seconds(r.Copied))
	for _, m := range r.Merges {
		fmt.Fprintf(&b, "%s: %s", printable.Text(m.Target), m.Phase)
		if m.Problem != "" {
			fmt.Fprintf(&b, ": %s", printable.Text(m.Problem))
		} else {
			fmt.Fprintf(&b, ", %s in %s", printable.Count(m.Rows, "row", "rows"), printable.Seconds(m.Took))
		}
		b.WriteString("\n")
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(&b, "\nNot in the copies, and so not tried: %s.\n", kindsOf(r.Left))
		for i, what := range r.Left {
			if i == mostLeft {
				fmt.Fprintf(&b, "  and %s more: -json has them all\n", printable.Number(int64(len(r.Left)-i)))
				break
			}
			fmt.Fprintf(&b, "  %s\n", printable.Text(what))
		}
	}
	if r.Kept != "" {
		fmt.Fprintf(&b, "\nThe copies are kept; the list of them is %s/rehearsal. The next rehearsal there removes them.\n", printable.Text(r.Kept))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
