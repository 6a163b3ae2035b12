package main

import (
	"context"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/campaign"
	"mergesafe/merge/keys"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func planFlags() []cliv3.Flag {
	return append(append(databases.RuleFlags(), databases.Flags()...), cli.JSONFlag(),
		&cliv3.StringFlag{Name: "o"}, &cliv3.StringFlag{Name: "into"}, pageFlag(), &cliv3.BoolFlag{Name: "recorded"})
}

func (s surroundings) makePlan(ctx context.Context, cmd *cliv3.Command) error {
	if cmd.Bool("recorded") {
		return s.recordedPlan(ctx, cmd)
	}
	spare, err := databases.Of(cmd)
	if err != nil {
		return err
	}
	config := databases.NewConfig(cmd.String("config"), s.env)
	if cmd.String("into") == "" {
		return cli.Usage("no -into: want the new database that the merge makes: servermerge plan -into NEW WORLD WORLD...")
	}
	all, err := given(config, append([]string{cmd.String("into")}, cmd.Args().Slice()...))
	if err != nil {
		return err
	}
	if len(all) < 3 {
		return cli.Usage("-into %s: got one world, want two or more: the first keeps its names and keys", printable.Text(all[0].Name))
	}
	rules, err := config.Rules(cmd)
	if err != nil {
		return err
	}
	name := cmd.String("o")
	file, err := newPlanFile(cmd, all...)
	if err != nil {
		return err
	}
	page, err := newPage(cmd, name, all...)
	if err != nil {
		return err
	}

	var checked *verdict.Report
	options := merge.PlanOptions{
		Check: rules.Check, Names: rules.Names, Copies: rules.Copies,
		Free:   campaign.Free(all[1]),
		Report: func(r *verdict.Report) { checked = r },
	}
	if options.Elsewhere, err = s.elsewhere(cmd); err != nil {
		return err
	}
	plan, err := newPlan(ctx, cmd, all, options, spare)
	if err != nil {
		return unread(ctx, err, "no plan")
	}
	checked.Program = plan.Program
	again := call{file: name, config: givenConfig(cmd), named: commandsOf(plan)}
	again.databases = slices.ContainsFunc(all, func(d merge.Database) bool { return !findable(d.Name) })
	view := &report.Planned{Plan: plan, Then: again.commands("plan"), Check: checked}
	if err := page.Write(view.WriteHTML); err != nil {
		return err
	}
	if err := file.Write(plan.Write); err != nil {
		return err
	}
	if out := cmd.Root().Writer; cmd.Bool("json") {
		err = view.WriteJSON(out)
	} else {
		err = view.WriteText(out, s.text(cmd))
	}
	if err == nil && len(plan.Refusals) > 0 {
		err = refusedCode(plan)
	}
	return err
}

// newPlan plans, and says meanwhile how far it is. The first database is the new one.
func newPlan(ctx context.Context, cmd *cliv3.Command, all []merge.Database, options merge.PlanOptions, t databases.Throttle) (*merge.Plan, error) {
	codecs, stop := keys.Commands(ctx, merge.CodecsOf(options.Check.Rules))
	defer stop()
	options.Check.Codecs = codecs
	w := newWatch(cli.LogOf(cmd), t, all[1:])
	defer w.close()
	options.Progress, options.Check.Judging = w.planning(ctx), w.progress.judges
	plan, err := merge.NewPlan(ctx, all[0], all[1:], options)
	if plan != nil {
		plan.Program, plan.Typed = cmd.Root().Version, typedOf(cmd)
	}
	return plan, err
}

// refusedCode is the exit code of a plan that will be refused. It is
// NotVerified only if all that blocks it is what the check could not
// look at.
func refusedCode(p *merge.Plan) cli.Code {
	byOthers := slices.ContainsFunc(p.Refusals, func(r merge.Refusal) bool { return r.Code == "" }) // than the check
	if p.Check.Verdict != verdict.NotVerified || byOthers {
		return cli.Conflicts
	}
	return cli.NotVerified
}
