package main

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/config"
	"mergesafe/internal/nearest"
	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

func flags() []cliv3.Flag {
	return []cliv3.Flag{
		&cliv3.StringFlag{Name: "config", Value: databases.DefaultConfig},

		&cliv3.StringFlag{Name: "target"},
		&cliv3.StringSliceFlag{Name: "include"},
		&cliv3.StringSliceFlag{Name: "exclude"},
		&cliv3.BoolFlag{Name: "propose"},
		&cliv3.BoolFlag{Name: "matrix"},
		&cliv3.StringFlag{Name: "rerun"},
		&cliv3.StringFlag{Name: "since"},

		&cliv3.StringSliceFlag{Name: "allow"},
		&cliv3.StringSliceFlag{Name: "fail-on"},

		&cliv3.BoolFlag{Name: "json"},
		&cliv3.StringFlag{Name: "html"},
		&cliv3.IntFlag{Name: "samples", Value: merge.DefaultSamples},

		&cliv3.IntFlag{Name: "max-load"},
		&cliv3.DurationFlag{Name: "pause"},
		&cliv3.StringFlag{Name: "snapshot", Value: "on"},

		&cliv3.BoolFlag{Name: "codes"},
		&cliv3.BoolFlag{Name: "grants"},
	}
}

// settings are what the command line and the configuration ask for.
type settings struct {
	places   []databases.Place
	options  merge.Options // but for the callbacks
	matrix   bool
	since    *merge.Report // nil if there is no -since
	json     bool
	html     string // the file to write; "" for none
	throttle throttle.Throttle
	snapshot bool
}

// newSettings reads the command line, and the files that it names.
func newSettings(cmd *cliv3.Command, env cli.Env) (s settings, err error) {
	if err := checkFlags(cmd); err != nil {
		return s, err
	}
	s = settings{
		matrix: cmd.Bool("matrix"), json: cmd.Bool("json"), html: cmd.String("html"),
		throttle: throttle.Throttle{MaxLoad: cmd.Int("max-load"), Pause: cmd.Duration("pause")},
		snapshot: cmd.String("snapshot") == "on",
	}
	declared, err := checkSection(cmd.String("config"), cmd.IsSet("config"))
	if err != nil {
		return s, err
	}
	s.options = merge.Options{
		Samples: cmd.Int("samples"),
		Include: declared.Include, Exclude: declared.Exclude,
		Uniques: declared.Uniques, References: declared.References, IDs: declared.IDs, Accounts: declared.Accounts,
		Allow: cmd.StringSlice("allow"), FailOn: cmd.StringSlice("fail-on"),
		Propose: cmd.Bool("propose"),
	}
	if s.options.Samples == 0 {
		s.options.Samples = -1 // none, rather than the default
	}
	// A pattern on the command line takes the place of those in the file.
	if cmd.IsSet("include") {
		s.options.Include = cmd.StringSlice("include")
	}
	if cmd.IsSet("exclude") {
		s.options.Exclude = cmd.StringSlice("exclude")
	}

	args, target := cmd.Args().Slice(), cmd.String("target")
	if file := cmd.String("rerun"); file != "" {
		old, err := readEarlier(file)
		if err != nil {
			return s, err
		}
		if s.options.Only, err = notPassed(file, old); err != nil {
			return s, err
		}
		if len(args) == 0 {
			args = sourceNames(old)
		}
		if target == "" { // what had not passed was about that one
			target = old.Target
		}
	}
	if s.places, err = databases.Locate(args, cmd.String("config"), env); err != nil {
		return s, err
	}
	if s.options.Target, err = findTarget(target, s.places); err != nil {
		return s, err
	}
	if file := cmd.String("since"); file != "" {
		if s.since, err = readEarlier(file); err != nil {
			return s, err
		}
		if err := comparable(file, s.since, s.places, s.options.Target); err != nil {
			return s, err
		}
	}
	return s, nil
}

// checkFlags looks at what can be judged without a file.
func checkFlags(cmd *cliv3.Command) error {
	if n := cmd.Int("samples"); n < 0 {
		return cli.Usage("-samples %d: want 0 or more", n)
	}
	if n := cmd.Int("max-load"); cmd.IsSet("max-load") && n < 1 {
		return cli.Usage("-max-load %d: want 1 or more running threads", n)
	}
	if d := cmd.Duration("pause"); d < 0 || d > time.Minute {
		return cli.Usage("-pause %s: want 0s to 1m", d)
	}
	if s := cmd.String("snapshot"); s != "on" && s != "off" {
		return cli.Usage("-snapshot %q: want on or off", s)
	}
	var codes []string
	for _, c := range merge.Codes() {
		codes = append(codes, c.Code)
	}
	for _, flag := range []string{"allow", "fail-on"} {
		for _, code := range cmd.StringSlice(flag) {
			if !slices.Contains(codes, code) {
				return cli.Usage("-%s: no rule has the code %q%s: mergecheck -codes lists them", flag, code, nearest.Hint(code, codes))
			}
		}
	}
	for _, code := range cmd.StringSlice("allow") {
		if slices.Contains(cmd.StringSlice("fail-on"), code) {
			return cli.Usage("-allow and -fail-on both name %s: want one of them", code)
		}
	}
	// What makes no sense together.
	for _, pair := range [][2]string{
		{"matrix", "target"}, {"matrix", "rerun"}, {"matrix", "since"}, {"matrix", "propose"}, {"matrix", "samples"},
		{"rerun", "since"}, {"rerun", "propose"}, {"codes", "grants"},
	} {
		if cmd.IsSet(pair[0]) && cmd.IsSet(pair[1]) {
			return cli.Usage("-%s and -%s do not go together", pair[0], pair[1])
		}
	}
	return nil
}

// checkSection returns the section [check] of the configuration. Only a file
// that was asked for has to be there.
func checkSection(file string, given bool) (config.Check, error) {
	c, err := config.Load(file)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return config.Check{}, nil
	}
	if err != nil {
		return config.Check{}, err
	}
	return c.Check, nil
}
