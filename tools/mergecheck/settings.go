package main

import (
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func flags() []cliv3.Flag {
	own := []cliv3.Flag{
		&cliv3.BoolFlag{Name: "propose"},
		&cliv3.StringFlag{Name: "o"},
		&cliv3.StringFlag{Name: "explain"},
		cli.JSONFlag(),
		&cliv3.StringFlag{Name: "html"},
		&cliv3.BoolFlag{Name: "codes"},
	}
	return slices.Concat(databases.RuleFlags(), databases.Flags(), own)
}

// settings are what the command line and the configuration ask for.
type settings struct {
	places   []databases.Place
	options  rules.Options // but for the callbacks
	json     bool
	html     string      // the file to write; "" for none
	rules    string      // the file of rules to write; "" for none
	inputs   []cli.Input // what must not be written over
	throttle databases.Throttle
	program  string // that makes the report

	explain [2]string // table and column; none if there is no -explain
	line    func(propose.Said) int
}

// newSettings reads the command line, and the files that it names.
func newSettings(cmd *cliv3.Command, env cli.Env) (s settings, err error) {
	if err := checkFlags(cmd); err != nil {
		return s, err
	}
	s = settings{
		json: cmd.Bool("json"), html: cmd.String("html"), rules: cmd.String("o"),
		program: cmd.Root().Version,
	}
	if s.throttle, err = databases.Of(cmd); err != nil {
		return s, err
	}
	config := databases.NewConfig(cmd.String("config"), env)
	ruled, err := config.Rules(cmd)
	if err != nil {
		return s, err
	}
	s.options, s.line = ruled.Check, ruled.Line
	s.options.Renames, s.options.Copies = merge.Renamed(ruled.Names), ruled.Copies
	if s.options.Propose = cmd.Bool("propose"); s.options.Propose {
		rekey := rules.Rekey{}
		if s.options.Rekey != nil {
			rekey = *s.options.Rekey
		}
		rekey.Auto = true // the file that it writes says so
		s.options.Rekey = &rekey
	}
	if text := cmd.String("explain"); text != "" {
		if s.explain[0], s.explain[1], err = propose.ParseColumn(text); err != nil {
			return s, cli.Usage("-explain %s: %v", text, err)
		}
	}
	if s.places, err = config.Locate(cmd.Args().Slice()); err != nil {
		return s, err
	}
	dsns := slice.Map(s.places, func(p databases.Place) string { return p.DSN.Reveal() })
	s.inputs = append(databases.Inputs(cmd, dsns...), cli.Input{What: "the file of -o", Name: s.rules})
	return s, nil
}

// checkFlags looks at what can be judged without a file.
func checkFlags(cmd *cliv3.Command) error {
	codes := slice.Map(verdict.Codes(), func(c verdict.Code) string { return c.Code })
	for _, text := range cmd.StringSlice("allow") {
		if code, _, _ := strings.Cut(text, ":"); !slices.Contains(codes, code) {
			return cli.Usage("-allow: no rule has the code %q%s: mergecheck -codes lists them", code, naming.Hint(code, codes))
		}
	}
	if cmd.IsSet("o") && !cmd.Bool("propose") {
		return cli.Usage("-o %s: -propose writes the rules there: want -propose too", cmd.String("o"))
	}
	for _, other := range []string{"propose", "html", "codes"} {
		if cmd.IsSet("explain") && cmd.IsSet(other) {
			return cli.Usage("-explain and -%s cannot be combined", other)
		}
	}
	return nil
}
