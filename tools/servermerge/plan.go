package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

func (s surroundings) planCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "plan",
		Description: helpPlan,
		Flags: append(append(databases.CheckFlags(), throttle.Flags()...), jsonFlag(),
			&cliv3.StringFlag{Name: "o"},
			&cliv3.StringFlag{Name: "html"},
			&cliv3.BoolFlag{Name: "no-fence"},
		),
		Action: s.makePlan,
	}
}

func (s surroundings) makePlan(ctx context.Context, cmd *cliv3.Command) error {
	spare, err := throttle.Of(cmd)
	if err != nil {
		return err
	}
	all, err := s.given(cmd)
	if err != nil {
		return err
	}
	options, err := planOptions(cmd)
	if err != nil {
		return err
	}
	file, err := newPlanFile(cmd.String("o"))
	if err != nil {
		return err
	}
	defer file.close()
	page, err := newPage(cmd, file.name)
	if err != nil {
		return err
	}
	defer page.Close()

	var report *merge.Report
	options.Report = func(r *merge.Report) { report = r }
	plan, err := s.plan(ctx, all, options, spare)
	if err != nil {
		return unread(ctx, err, "no plan")
	}
	if err := page.Write(func(w io.Writer) error { return htmlreport.Write(w, report) }); err != nil {
		return err
	}
	if err := file.write(plan); err != nil {
		return err
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		err = plan.Write(out)
	} else {
		again := call{file: file.name, config: givenConfig(cmd), databases: slices.ContainsFunc(all, func(d transfer.Database) bool { return !findable(d.Name) })}
		_, err = io.WriteString(out, review(plan, again))
	}
	if err == nil && len(plan.Refusals) > 0 {
		err = refusedCode(plan)
	}
	return err
}

func (s surroundings) plan(ctx context.Context, all []transfer.Database, options transfer.PlanOptions, t throttle.Throttle) (*transfer.Plan, error) {
	w := s.watch(t, all)
	defer w.close()
	options.Progress = w.planning(ctx)
	return transfer.NewPlan(ctx, all[0], all[1:], options)
}

// planOptions are what configuration and flags say about the plan.
func planOptions(cmd *cliv3.Command) (transfer.PlanOptions, error) {
	c, check, err := databases.CheckOptions(cmd)
	if err != nil {
		return transfer.PlanOptions{}, err
	}
	return transfer.PlanOptions{
		Check: check,
		Names: c.Merge.Names, Copies: c.Merge.Copies,
		NoFence: cmd.Bool("no-fence"),
	}, nil
}

// refusedCode is the exit code of a plan that will be refused. It is
// NotVerified only if all that stands against it is what the check could not
// look at.
func refusedCode(p *transfer.Plan) cli.Code {
	if p.Check.Verdict != merge.NotVerified {
		return cli.Conflicts
	}
	for _, r := range p.Refusals {
		if r.Code == "" { // not found by the check
			return cli.Conflicts
		}
	}
	return cli.NotVerified
}

// planFile is the file that a plan is going to be written to. It is made before
// the work, which may take hours, and never takes the place of another one: a
// merge may have been begun with that.
type planFile struct {
	name string
	f    *os.File // nil if there is none to be written
}

func newPlanFile(name string) (*planFile, error) {
	if name == "" {
		return new(planFile), nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("-o: %s is there already, and a merge may have been begun with it: want another name", name)
	}
	if err != nil {
		return nil, fmt.Errorf("-o: %w", err)
	}
	return &planFile{name, f}, nil
}

func (p *planFile) write(plan *transfer.Plan) error {
	if p.f == nil {
		return nil
	}
	err := plan.Write(p.f)
	if err == nil {
		err = p.f.Sync()
	}
	if closeErr := p.f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	p.f = nil
	return nil
}

// close takes away a file that no plan was written to.
func (p *planFile) close() {
	if p.f != nil {
		p.f.Close()
		os.Remove(p.name)
	}
}
