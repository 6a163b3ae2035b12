package main

import (
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/nearest"
	"mergesafe/internal/slice"
	"mergesafe/merge/declare"
	"mergesafe/merge/propose"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

func flags() []cliv3.Flag {
	own := []cliv3.Flag{
		&cliv3.BoolFlag{Name: "propose"},
		&cliv3.StringFlag{Name: "o"},
		&cliv3.StringFlag{Name: "explain"},
		&cliv3.StringSliceFlag{Name: "fail-on"},

		cli.JSONFlag(),
		&cliv3.StringFlag{Name: "html"},
		&cliv3.IntFlag{Name: "samples", Value: declare.DefaultSamples},

		&cliv3.StringFlag{Name: "snapshot", Value: "on"},

		&cliv3.BoolFlag{Name: "codes"},
	}
	return slices.Concat(databases.RuleFlags(), throttle.Flags(), own)
}

// settings are what the command line and the configuration ask for.
type settings struct {
	places   []databases.Place
	options  declare.Options // but for the callbacks
	json     bool
	html     string      // the file to write; "" for none
	rules    string      // the file of rules to write; "" for none
	inputs   []cli.Input // what must not be written over
	throttle throttle.Throttle
	snapshot bool
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
		snapshot: cmd.String("snapshot") == "on", program: cmd.Root().Version,
	}
	if s.throttle, err = throttle.Of(cmd); err != nil {
		return s, err
	}
	config := databases.NewConfig(cmd.String("config"), env)
	rules, err := config.Rules(cmd)
	if err != nil {
		return s, err
	}
	s.options, s.line = rules.Check, rules.Line
	s.options.Renames, s.options.Copies = transfer.Renamed(rules.Names), rules.Copies
	s.options.Samples, s.options.FailOn, s.options.Propose = cmd.Int("samples"), cmd.StringSlice("fail-on"), cmd.Bool("propose")
	if s.options.Samples == 0 {
		s.options.Samples = -1 // none, rather than the default
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
	if n := cmd.Int("samples"); n < 0 {
		return cli.Usage("-samples %d: want 0 or more", n)
	}
	if s := cmd.String("snapshot"); s != "on" && s != "off" {
		return cli.Usage("-snapshot %q: want on or off", s)
	}
	codes := slice.Map(verdict.Codes(), func(c verdict.Code) string { return c.Code })
	for _, flag := range []string{"allow", "fail-on"} {
		for _, text := range cmd.StringSlice(flag) {
			code, place, _ := strings.Cut(text, ":")
			if flag == "fail-on" && place != "" {
				return cli.Usage("-fail-on %s: want a code alone", text)
			}
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
	if cmd.IsSet("o") && !cmd.Bool("propose") {
		return cli.Usage("-o %s: -propose writes the rules there: want -propose too", cmd.String("o"))
	}
	// What makes no sense together.
	for _, pair := range [][2]string{
		{"explain", "propose"}, {"explain", "html"}, {"explain", "samples"}, {"explain", "fail-on"}, {"explain", "codes"},
	} {
		if cmd.IsSet(pair[0]) && cmd.IsSet(pair[1]) {
			return cli.Usage("-%s and -%s do not go together", pair[0], pair[1])
		}
	}
	return nil
}
