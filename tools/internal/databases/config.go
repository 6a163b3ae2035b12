package databases

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/config"
	"mergesafe/internal/slice"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/rulefile"
)

// DefaultConfig is the configuration file if no -config names another.
const DefaultConfig = "config.toml"

// ConfigFlag is -config.
func ConfigFlag() cliv3.Flag {
	return &cliv3.StringFlag{Name: "config", Value: DefaultConfig, Local: true}
}

// Config is the configuration file of a run. It is read once, when something in
// it is first asked for.
type Config struct {
	file string
	env  cli.Env
	load func() (contents, error)

	listed, placed worldList // see worlds.go
}

type contents struct {
	*config.Config
	rules rulefile.Rules
}

// NewConfig returns the configuration in a file.
func NewConfig(file string, env cli.Env) *Config {
	return &Config{file: file, env: env, load: sync.OnceValues(func() (c contents, err error) {
		c.Config, err = config.Load(file, c.rules.ConfigReader(file))
		return c, err
	})}
}

// optional is the file; nothing, without an error, if it is not there and was not asked for.
func (c *Config) optional(asked bool) (contents, error) {
	file, err := c.load()
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return contents{Config: new(config.Config)}, nil
	}
	return file, err
}

// DSN returns the DSN of the database that an argument names: a DSN stands for
// itself, anything else is the name of a source in the file.
func (c *Config) DSN(arg string) (config.Secret, error) {
	if strings.Contains(arg, ":") {
		return config.NewSecret(arg), nil
	}
	if shown := cli.MaskedWord(arg); shown != arg {
		return config.Secret{}, fmt.Errorf("%q is neither a DSN nor the name of a source: want \"sqlite:\" and the path of a file, or \"mysql:\" and user:password@tcp(host:port)/database", shown)
	}
	if isPath(arg) {
		return config.Secret{}, fmt.Errorf("%q is neither a DSN nor the name of a source: for an SQLite file write \"sqlite:%s\"", arg, arg)
	}
	file, err := c.load()
	if errors.Is(err, fs.ErrNotExist) {
		return config.Secret{}, fmt.Errorf("no source %q without a configuration file: want a DSN, such as \"sqlite:data/s1.db\", or the file: %w", arg, err)
	}
	if err != nil {
		return config.Secret{}, err
	}
	s, err := file.Source(arg)
	if err != nil {
		return config.Secret{}, err
	}
	return s.Database.DSN(c.env)
}

// isPath reports whether an argument looks like the path of a file.
func isPath(arg string) bool {
	return strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".db")
}

// Registry returns the DSN of the fleet registry: the given one, which may be
// empty, or else that of the file. It is zero if there is no file, or no section
// [registry] in it.
func (c *Config) Registry(dsn string) (config.Secret, error) {
	if dsn != "" {
		return config.NewSecret(dsn), nil
	}
	file, err := c.optional(false)
	if err != nil {
		return config.Secret{}, err
	}
	return file.Registry.DSN(c.env)
}

// RuleFlags are what [Config.Rules] looks at: -config, -rules and -allow.
func RuleFlags() []cliv3.Flag {
	return []cliv3.Flag{
		ConfigFlag(),
		&cliv3.StringSliceFlag{Name: "rules"},
		&cliv3.StringSliceFlag{Name: "allow"},
	}
}

// Rules returns what the file, the files of rules that it names, and the flags say of the tables, in this order.
// Only a file that was asked for has to be there.
func (c *Config) Rules(cmd *cliv3.Command) (rulefile.Rules, error) {
	file, err := c.optional(cmd.IsSet("config"))
	if err != nil {
		return rulefile.Rules{}, err
	}
	r := file.rules
	for _, name := range slices.Concat(c.named(), cmd.StringSlice("rules")) {
		if err := r.Load(name); err != nil {
			return rulefile.Rules{}, err
		}
	}
	r.Check.Allow = cmd.StringSlice("allow")
	return r, nil
}

// RuleFiles are the files that [Config.Rules] reads without flags: the file itself, and those of rules that it names. There
// are none if it cannot be read.
func (c *Config) RuleFiles() []string {
	if _, err := c.load(); err != nil {
		return nil
	}
	return append([]string{c.file}, c.named()...)
}

// named are the files of rules that the file names; none if it cannot be read.
func (c *Config) named() []string {
	file, err := c.load()
	if err != nil {
		return nil
	}
	return slice.Map(file.rules.Files, func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(c.file), name)
	})
}

// Fleet returns the section [fleet] of the file. Only a file that was asked for has to be
// there.
func (c *Config) Fleet(cmd *cliv3.Command) (rulefile.Fleet, error) {
	file, err := c.optional(cmd.IsSet("config"))
	return file.rules.Fleet, err
}

// SourceNames are the names of the sources in the file, for completions; none if it cannot
// be read.
func (c *Config) SourceNames() (names []string) {
	file, err := c.load()
	if err != nil {
		return nil
	}
	return slice.Map(file.Sources, func(s config.Source) string { return s.Name })
}
