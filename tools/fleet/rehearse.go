package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/tools/internal/cli"
)

func rehearseCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "rehearse", Description: helpRehearse,
		Flags:  append(workFlags(), &cliv3.StringFlag{Name: "dir"}, &cliv3.StringFlag{Name: "on"}, &cliv3.BoolFlag{Name: "keep"}),
		Action: s.rehearse}
}

func (s surroundings) rehearse(ctx context.Context, cmd *cliv3.Command) error {
	n, err := s.open(ctx, cmd)
	if err != nil {
		return err
	}
	defer n.close()
	o, err := n.options(ctx)
	if err != nil {
		return err
	}
	if on := cmd.String("on"); on != "" && !strings.HasPrefix(on, "mysql:") {
		return cli.Usage("-on: want the DSN of a server without a database, mysql:USER:PASSWORD@tcp(HOST:PORT)/")
	}
	w := n.watch(ctx)
	result, err := n.book.Rehearse(ctx, o, campaign.Rehearsal{Folder: cmd.String("dir"), Server: cmd.String("on"), Keep: cmd.Bool("keep")})
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
		case campaign.Verified:
		case campaign.Copied:
			code = max(code, cli.NotVerified)
		default:
			return cli.Conflicts
		}
	}
	return code
}

func writeRehearsed(out io.Writer, name string, r *campaign.Rehearsed) error {
	var b strings.Builder
	verified := 0
	for _, m := range r.Merges {
		if m.Phase == campaign.Verified {
			verified++
		}
	}
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
		b.WriteString("\nNot in the copies, and so not tried:\n")
		for _, what := range r.Left {
			fmt.Fprintf(&b, "  %s\n", printable.Text(what))
		}
	}
	if r.Kept != "" {
		fmt.Fprintf(&b, "\nThe copies are kept; the list of them is %s/rehearsal. The next rehearsal there removes them.\n", printable.Text(r.Kept))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
