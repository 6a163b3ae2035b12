package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/htmlreport"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// ending is where it goes what a command comes to.
type ending struct {
	began time.Time
	out   io.Writer
	json  bool      // rather than text
	page  *cli.File // of -html
}

// newPage makes the file that -html names, before the work. It never is the
// plan, which is still needed.
func newPage(cmd *cliv3.Command, plan string) (*cli.File, error) {
	name := cmd.String("html")
	if page, err := os.Stat(name); err == nil {
		if other, err := os.Stat(plan); err == nil && os.SameFile(page, other) {
			return nil, cli.Usage("-html: %s is the plan: want another file", name)
		}
	}
	return cli.NewFile("html", name)
}

// conclude prints what a command came to, and writes it to the page that is
// wanted. body is what the text has between the first words and the last. It
// returns how the command ends.
func (j *job) conclude(ctx context.Context, d *document, m *htmlreport.Merge, body string) error {
	err := d.print(j.out, j.json, text(m, body))
	if pageErr := j.writePage(ctx, d, m); pageErr != nil {
		return pageErr
	}
	return err
}

// text is what a command says to people.
func text(m *htmlreport.Merge, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s", m.Outcome, m.Sentence, body)
	for _, line := range m.Details {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, line := range m.Samples {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	for _, step := range m.Next {
		fmt.Fprintf(&b, "%s\n", step.Text)
		for _, command := range step.Commands {
			fmt.Fprintf(&b, "  %s\n", command)
		}
	}
	return b.String()
}

func (j *job) writePage(ctx context.Context, d *document, m *htmlreport.Merge) error {
	return j.page.Write(func(w io.Writer) error {
		m.Began, m.Ended = j.began, time.Now()
		m.Plan, m.Status = j.plan, j.now(ctx)
		m.Refusals, m.Proof, m.Document = d.Refusals, d.Proof, d
		return htmlreport.WriteMerge(w, m)
	})
}

// now is where the merge is; nil if that cannot be seen. After an interrupt
// nobody waits for it for long.
func (j *job) now(ctx context.Context) *transfer.Status {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
	}
	at, err := transfer.LookUp(ctx, j.plan, j.target, j.sources)
	if err != nil {
		return nil
	}
	return at
}
