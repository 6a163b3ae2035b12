package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func jsonFlag() cliv3.Flag { return &cliv3.BoolFlag{Name: "json"} }

// given returns the databases that a plan is to be made for, the target first.
// They keep the names that they have here: whoever carries the plan out finds
// them by these.
func (s surroundings) given(cmd *cliv3.Command) ([]transfer.Database, error) {
	places, err := databases.Locate(cmd.Args().Slice(), cmd.String("config"), s.env)
	if err != nil {
		return nil, err
	}
	var all []transfer.Database
	for _, p := range places {
		all = append(all, transfer.Database{Name: p.FullName(), DSN: p.DSN.Reveal()})
	}
	return all, nil
}

// job is a plan with the databases that it is for.
type job struct {
	call
	ending
	plan    *transfer.Plan
	target  transfer.Database
	sources []transfer.Database
}

// job reads the plan that the arguments name, and finds its databases: those
// that the arguments give, or else those that have the names of the plan.
func (s surroundings) job(cmd *cliv3.Command) (*job, error) {
	j, err := readJob(cmd)
	if err != nil {
		return nil, err
	}
	names := j.names()
	args := cmd.Args().Slice()[1:]
	j.databases = len(args) > 0
	if len(args) == 0 {
		args = names
		for _, name := range names {
			if !findable(name) {
				return nil, cli.Usage("the plan was made for %q, which was given by DSN: give the databases again, in the order of the plan: %s", name, strings.Join(names, ", "))
			}
		}
	}
	if len(args) != len(names) {
		return nil, cli.Usage("got %d databases for a plan of %d: want %s, or none where the plan has their names", len(args), len(names), strings.Join(names, ", "))
	}
	places, err := databases.Locate(args, cmd.String("config"), s.env)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		d := transfer.Database{Name: names[i], DSN: p.DSN.Reveal()}
		if i == 0 {
			j.target = d
		} else {
			j.sources = append(j.sources, d)
		}
	}
	return j, nil
}

// readJob reads the plan, and leaves the databases open.
func readJob(cmd *cliv3.Command) (*job, error) {
	file := cmd.Args().First()
	if file == "" {
		return nil, cli.Usage("no plan given: want the file that \"servermerge plan -o FILE\" wrote")
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(file, "sqlite:") || strings.HasPrefix(file, "mysql:") { // perhaps with its password
		return nil, cli.Usage("a database is given where the plan belongs: want the file that \"servermerge plan -o FILE\" wrote")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := transfer.ReadPlan(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, plainly(err))
	}
	return &job{call: call{file: file, config: givenConfig(cmd)}, plan: plan}, nil
}

// call is what has to be said again when another command takes up the same plan.
type call struct {
	file      string // the plan
	config    string // empty: the default
	databases bool   // whether they have to be given again
}

// command is what to type for a command about the same plan.
func (c call) command(name string) string {
	words := []string{"servermerge", name}
	if c.config != "" {
		words = append(words, "-config", quoted(c.config))
	}
	words = append(words, quoted(c.file))
	if c.databases {
		words = append(words, "TARGET SOURCE...")
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(printable.Text(word), "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\pL\pN_./:@%+=-]+$`)

// givenConfig is the configuration that the command line names; empty if none.
func givenConfig(cmd *cliv3.Command) string {
	if !cmd.IsSet("config") {
		return ""
	}
	return cmd.String("config")
}

// findable reports whether a database is found by the name that it has in a
// plan.
func findable(name string) bool {
	return strings.HasPrefix(name, "sqlite:") || !strings.ContainsAny(name, `:/\`)
}

// names are the names of the databases, the target's first.
func (j *job) names() []string {
	return append([]string{j.plan.Target.Name}, sourceNames(j.plan)...)
}

// all are the databases, the target first.
func (j *job) all() []transfer.Database { return append([]transfer.Database{j.target}, j.sources...) }

func sourceNames(p *transfer.Plan) (names []string) {
	for _, w := range p.Sources {
		names = append(names, w.Name)
	}
	return names
}
