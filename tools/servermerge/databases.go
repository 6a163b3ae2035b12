package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// given returns the databases that a plan is made for, the new one first. The
// commands that carry the plan out find them by the names that they have here.
func given(config *databases.Config, args []string) ([]merge.Database, error) {
	places, err := config.Locate(args)
	return slice.Map(places, databaseAt), err
}

func databaseAt(p databases.Place) merge.Database {
	return merge.Database{Name: p.FullName(), DSN: p.DSN.Reveal()}
}

// job is a plan with the databases that it is for.
type job struct {
	call
	ending
	program string // that runs
	plan    *merge.Plan
	into    merge.Database // the new one
	place   string         // of it, without secrets
	worlds  []merge.Database
}

// job reads the plan that the arguments name, and finds its databases: those
// that the arguments give, or else those that have the names of the plan.
func (s surroundings) job(cmd *cliv3.Command) (*job, error) {
	j, err := readJob(cmd)
	if err != nil {
		return nil, err
	}
	return s.locate(cmd, j)
}

// locate finds the databases of a plan.
func (s surroundings) locate(cmd *cliv3.Command, j *job) (*job, error) {
	names := j.names()
	args := cmd.Args().Slice()[1:]
	j.databases = len(args) > 0
	if len(args) == 0 {
		args = names
		for _, name := range names {
			if !findable(name) {
				return nil, cli.Usage("the plan was made for %q, which was given as a DSN: give the databases again, in the order of the plan: %s", name, strings.Join(names, ", "))
			}
		}
	}
	if len(args) != len(names) {
		return nil, cli.Usage("got %s for a plan of %d: want %s, or none if the plan has their names", printable.Count(int64(len(args)), "database", "databases"), len(names), strings.Join(names, ", "))
	}
	for i, name := range args {
		if at := slices.Index(names, name); at >= 0 && at != i {
			return nil, cli.Usage("%s stands in another place than in the plan: want %s, or none", printable.Quoted(name), strings.Join(names, ", "))
		}
	}
	places, err := databases.NewConfig(cmd.String("config"), s.env).Locate(args)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		d := merge.Database{Name: names[i], DSN: p.DSN.Reveal()}
		if i == 0 {
			j.into, j.place = d, databases.Where(p.DSN.Reveal())
		} else {
			j.worlds = append(j.worlds, d)
		}
	}
	return j, nil
}

// asPlanned refuses a new database without the record of the merge that is not where the plan was made for: one that was
// typed, or that the configuration names since.
func (j *job) asPlanned(ctx context.Context, doing string) error {
	at, err := merge.LookUp(ctx, j.plan, j.into, j.worlds)
	if err != nil || !at.State.Nothing() {
		return nil // the work itself waits, or says why; or the database is known by its record
	}
	refusal, err := merge.Elsewhere(ctx, j.plan, j.into)
	if err != nil || refusal == nil {
		return err
	}
	return &merge.RefusedError{Doing: doing, Refusals: []merge.Refusal{*refusal}}
}

// readJob reads the plan, and leaves the databases open.
func readJob(cmd *cliv3.Command) (*job, error) {
	file := cmd.Args().First()
	if file == "" {
		return nil, cli.Usage("no plan given: want the file that \"servermerge plan -o FILE\" wrote")
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // whoever opens a pipe waits
		return nil, cli.Usage("%s is no file: want the file that \"servermerge plan -o FILE\" wrote", printable.Text(file))
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(file, "sqlite:") || strings.HasPrefix(file, "mysql:") { // perhaps with its password
		return nil, cli.Usage("got a database instead of a plan: want the file that \"servermerge plan -o FILE\" wrote")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.WithHint(fmt.Errorf("there is no plan %s", file), "servermerge plan -o "+printable.Quoted(file)+" -into NEW WORLD... makes one. "+recorded(file))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := merge.ReadPlan(f)
	if err != nil {
		return nil, cli.WithHint(fmt.Errorf("%s: %w", file, report.Plainly(err)), recorded(file+".recorded"))
	}
	return &job{call: call{file: file, config: givenConfig(cmd), plan: planAgain(file, plan)}, program: cmd.Root().Version, plan: plan}, nil
}

// newPlanFile makes the file of -o for a plan: never in the place of another, with which a merge may
// have begun. One that was refused does not count.
func newPlanFile(cmd *cliv3.Command, all ...merge.Database) (*cli.File, error) {
	name := cmd.String("o")
	file, err := cli.NewFirstFile("o", name, func() bool { return isRefused(name) }, inputs(cmd, "", all...)...) // no merge began with such a one, nor will any
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("-o: %s already exists, and a merge may have been begun with it: want another name", name)
	}
	return file, err
}

// isRefused reports whether a file is a plan that apply refuses.
func isRefused(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	plan, err := merge.ReadPlan(f)
	return err == nil && len(plan.Refusals) > 0
}

// recorded says how to get the plan of a merge back into a file.
func recorded(file string) string {
	return "If a merge has begun with it, get it back from the new database: servermerge plan -recorded -o " + printable.Quoted(file) + " NEW"
}

// call is what has to be said again when another command takes up the same plan.
type call struct {
	file      string   // the plan
	config    string   // empty: the default
	databases bool     // whether they have to be given again
	named     []string // the codecs of -codec
	fleet     []string // -fleet, as it was typed, for the commands that have it
	plan      string   // the command that makes a new plan
}

// command is what to type for a command about the same plan.
func (c call) command(name string) string {
	words := []string{"servermerge", name}
	if c.config != "" {
		words = append(words, "-config", printable.Quoted(c.config))
	}
	if name != "status" { // which needs none
		for _, format := range c.named {
			words = append(words, "-codec", printable.Quoted(format))
		}
	}
	if len(c.fleet) > 0 && (name == "open" || strings.HasPrefix(name, "undo")) {
		words = append(words, cli.Line(c.fleet))
	}
	words = append(words, printable.Quoted(c.file))
	if c.databases {
		words = append(words, which)
	}
	return strings.Join(words, " ")
}

// which is how help calls the databases of a plan.
const which = "NEW WORLD..."

// commands are the commands for the same plan; none if it was not kept. running
// is the command that runs now.
func (c call) commands(running string) report.Commands {
	if c.file == "" {
		return report.Commands{}
	}
	return report.Commands{
		Apply: c.command("apply"), Verify: c.command("verify"), Open: c.command("open"), Undo: c.command("undo"), Force: c.command("undo -force"), Again: c.command(running),
		Renames: "servermerge whois " + printable.Quoted(c.file), Plan: c.plan,
	}
}

// typedOf are the words of a command that makes a plan, for [merge.Plan.Typed].
func typedOf(cmd *cliv3.Command) []string {
	words := []string{cmd.Name}
	for _, f := range cmd.Flags {
		flag, secretly := f.Names()[0], ""
		if flag == "into" {
			secretly = cli.NewDSN
		}
		if cmd.IsSet(flag) && !slices.Contains([]string{"o", "html", "json"}, flag) {
			words = append(words, cli.Typed(cmd, f, secretly)...)
		}
	}
	return words
}

// planAgain is what to type for a new plan of the same merge, in a file beside that of the old one.
func planAgain(file string, plan *merge.Plan) string {
	if len(plan.Typed) == 0 { // it is not servermerge that made it
		if night, kept := strings.CutSuffix(filepath.Dir(file), ".plans"); kept {
			return cli.Line([]string{"fleet", "plan", night, plan.Worlds[0].Name})
		}
		return ""
	}
	words := append([]string{"servermerge"}, plan.Typed...)
	ending := filepath.Ext(file)
	fresh := file
	for n := 2; len(plan.Refusals) == 0; n++ { // one that is refused is written over
		fresh = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ending), n, ending)
		if _, err := os.Lstat(fresh); err != nil {
			break
		}
	}
	words = append(words, "-o", fresh)
	names := plan.Databases()[1:] // -into names the new one
	if slices.ContainsFunc(names, func(name string) bool { return !findable(name) }) {
		return cli.Line(words) + " WORLD..."
	}
	return cli.Line(append(words, names...))
}

// givenConfig is the configuration that the command line names; empty if none.
func givenConfig(cmd *cliv3.Command) string {
	if !cmd.IsSet("config") {
		return ""
	}
	return cli.MaskedWord(cmd.String("config"))
}

// findable reports whether a database is found by the name that it has in a
// plan.
func findable(name string) bool {
	return strings.HasPrefix(name, "sqlite:") && !strings.Contains(name, "***") || !strings.ContainsAny(name, `:/\`)
}

// names are those of the databases, the new one first.
func (j *job) names() []string { return j.plan.Databases() }

// where is the new database for a person: its name and its place.
func (j *job) where() string {
	name := printable.Text(j.into.Name)
	if place := printable.Text(j.place); place != name {
		name += " (" + place + ")"
	}
	return name
}

// all are the databases, the new one first.
func (j *job) all() []merge.Database { return append([]merge.Database{j.into}, j.worlds...) }
