package databases

import (
	"errors"
	"io/fs"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/config"
	"mergesafe/merge"
)

// CheckFlags are what [CheckOptions] looks at: -config, -include, -exclude and
// -allow.
func CheckFlags() []cliv3.Flag {
	return []cliv3.Flag{
		ConfigFlag(),
		&cliv3.StringSliceFlag{Name: "include"},
		&cliv3.StringSliceFlag{Name: "exclude"},
		&cliv3.StringSliceFlag{Name: "allow"},
	}
}

// ConfigFlag is -config.
func ConfigFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "config", Value: DefaultConfig} }

// CheckOptions reads the configuration, and returns it together with what the
// section [check] there and the flags say of a check. Only a file that was
// asked for has to be there.
func CheckOptions(cmd *cliv3.Command) (*config.Config, merge.Options, error) {
	c, err := config.Load(cmd.String("config"))
	if errors.Is(err, fs.ErrNotExist) && !cmd.IsSet("config") {
		c, err = new(config.Config), nil
	}
	if err != nil {
		return nil, merge.Options{}, err
	}
	o := merge.Options{
		Include: c.Check.Include, Exclude: c.Check.Exclude,
		Uniques: c.Check.Uniques, References: c.Check.References, IDs: c.Check.IDs, Accounts: c.Check.Accounts,
		Allow: cmd.StringSlice("allow"),
	}
	// A pattern on the command line takes the place of those in the file.
	if cmd.IsSet("include") {
		o.Include = cmd.StringSlice("include")
	}
	if cmd.IsSet("exclude") {
		o.Exclude = cmd.StringSlice("exclude")
	}
	return c, o, nil
}
