package databases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/config"
	"mergesafe/internal/fleet"
	"mergesafe/internal/naming"

	"mergesafe/tools/internal/cli"
)

// World is one world that a command is about.
type World struct {
	Place
	Labels map[string]string // such as its language and time zone; nil if it has none

	// Err says why it is not known where the world's database is: then it has no DSN.
	Err error
}

// WorldFlags are what [Config.Worlds] looks at: -config, -all, -worlds and -fleet.
func WorldFlags() []cliv3.Flag {
	return []cliv3.Flag{
		ConfigFlag(),
		&cliv3.BoolFlag{Name: "all"},
		&cliv3.StringFlag{Name: "worlds"},
		&cliv3.StringFlag{Name: "fleet"},
	}
}

// Worlds returns the worlds that a command is about, each once, in the order of the arguments:
// DSNs, names, and patterns such as 'w*' and 'w{1..40}'; or with -all every world. The names
// are those of a file of worlds, if -worlds names one; then no argument means all of it. Else
// they are those of the sources in the configuration, and of the places in the fleet registry,
// which is asked only if an argument may mean one of these.
func (c *Config) Worlds(ctx context.Context, cmd *cliv3.Command, args []string) ([]World, error) {
	all := cmd.Bool("all")
	switch {
	case all && len(args) > 0:
		return nil, cli.Usage("-all and %q are both given: want one of them", args[0])
	case !all && len(args) == 0 && !cmd.IsSet("worlds"):
		return nil, cli.Usage("no worlds given: want names, patterns such as 'w*' or 'w{1..40}', -worlds and a file that lists them, or -all")
	case len(args) == 0:
		args = []string{"*"}
	}
	var selected []known
	for _, arg := range args {
		found, err := c.find(ctx, cmd, arg)
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			if !slices.ContainsFunc(selected, func(s known) bool { return s.name == w.name }) {
				selected = append(selected, w)
			}
		}
	}
	return c.locate(selected)
}

// World returns the world of a name, or the one that a DSN leads to.
func (c *Config) World(ctx context.Context, cmd *cliv3.Command, name string) (World, error) {
	if naming.IsPattern(name) && !strings.Contains(name, ":") {
		return World{}, cli.Usage("%q is a pattern: want one world", name)
	}
	found, err := c.find(ctx, cmd, name)
	if err != nil {
		return World{}, err
	}
	worlds, err := c.locate(found)
	if err != nil {
		return World{}, err
	}
	return worlds[0], worlds[0].Err
}

// known is a world that is known, and not yet where its database is.
type known struct {
	name   string
	labels map[string]string
	dsn    func() (config.Secret, error)
	err    error // the fleet registry has its place in a form that cannot be used
}

// worldList are worlds that are known, read when they are first needed.
type worldList struct {
	mu     sync.Mutex
	loaded bool
	worlds []known
	from   string // where they are listed; "" if nowhere
}

// once returns the list, which load makes unless it is there.
func (l *worldList) once(load func() ([]known, string, error)) ([]known, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		worlds, from, err := load()
		if err != nil {
			return nil, "", err
		}
		l.loaded, l.worlds, l.from = true, worlds, from
	}
	return l.worlds, l.from, nil
}

// find returns the worlds that an argument means: at least one.
func (c *Config) find(ctx context.Context, cmd *cliv3.Command, arg string) ([]known, error) {
	if strings.Contains(arg, ":") || isPath(arg) && !naming.IsPattern(arg) {
		return []known{{name: arg, dsn: func() (config.Secret, error) { return c.DSN(arg) }}}, nil
	}
	match := func(w known) bool { return w.name == arg }
	if naming.IsPattern(arg) {
		re, err := naming.CompilePattern(arg)
		if err != nil {
			return nil, cli.Usage("%q is not a pattern of names: %v", arg, err)
		}
		match = func(w known) bool { return re.MatchString(w.name) }
	}
	worlds, from, err := c.listed.once(func() ([]known, string, error) { return c.listWorlds(cmd) })
	if err != nil {
		return nil, err
	}
	if cmd.String("worlds") == "" && (naming.IsPattern(arg) || !slices.ContainsFunc(worlds, match)) {
		more, registry, err := c.placed.once(func() ([]known, string, error) { return c.listPlaces(ctx, cmd) })
		if err != nil {
			return nil, err
		}
		worlds = union(worlds, more)
		if from != "" && registry != "" {
			from += " and "
		}
		from += registry
	}
	var found []known
	var names []string
	for _, w := range worlds {
		names = append(names, w.name)
		if match(w) {
			found = append(found, w)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(names) == 0:
		return nil, fmt.Errorf("no worlds are known in %s: want a [[source]] for each, or -worlds and a file that lists them", from)
	case naming.IsPattern(arg):
		return nil, fmt.Errorf("no world matches %q: there is %s, in %s", arg, some(names), from)
	default:
		return nil, fmt.Errorf("no world %q%s: there is %s, in %s", arg, naming.Hint(arg, names), some(names), from)
	}
}

// union adds those worlds to a list whose names are not there.
func union(worlds, more []known) []known {
	names := make(map[string]bool)
	for _, w := range worlds {
		names[w.name] = true
	}
	all := slices.Clone(worlds)
	for _, w := range more {
		if !names[w.name] {
			all = append(all, w)
		}
	}
	return all
}

// some names some of the worlds.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// listWorlds lists the worlds of the file of -worlds, or the sources of the configuration. It
// need not be there if there is a fleet registry.
func (c *Config) listWorlds(cmd *cliv3.Command) (worlds []known, from string, err error) {
	var sources []config.Source
	if from = cmd.String("worlds"); from != "" {
		if sources, err = config.LoadSources(from); err != nil {
			return nil, "", err
		}
	} else {
		file, err := c.load()
		switch {
		case err == nil:
			sources, from = file.Sources, c.file
		case !errors.Is(err, fs.ErrNotExist) || cmd.IsSet("config"):
			return nil, "", err
		case !cmd.IsSet("fleet"):
			return nil, "", cli.WithHint(err, "want this file, with a [[source]] for each world; or -worlds and a file that lists them")
		}
	}
	for _, s := range sources {
		dsn := func() (config.Secret, error) { return s.Database.DSN(c.env) }
		worlds = append(worlds, known{name: s.Name, labels: s.Labels, dsn: dsn})
	}
	return worlds, from, nil
}

// listPlaces lists the worlds whose places are in the fleet registry, if there is one.
func (c *Config) listPlaces(ctx context.Context, cmd *cliv3.Command) (worlds []known, from string, err error) {
	dsn, err := c.Registry(cmd.String("fleet"))
	if err != nil || dsn.IsZero() {
		return nil, "", err
	}
	registry, err := fleet.Open(dsn.Reveal())
	if err != nil {
		return nil, "", err
	}
	defer registry.Close()
	places, err := registry.Places(ctx)
	if err != nil {
		return nil, "", cli.WithHint(err, "the fleet registry lists worlds; to use a file instead, give -worlds FILE")
	}
	for _, p := range places {
		dsn := func() (config.Secret, error) {
			if p.WithAccount("account") == p.DSN {
				return config.NewSecret(p.DSN), nil // it needs none
			}
			account, err := c.worldsAccount()
			return config.NewSecret(p.WithAccount(account.Reveal())), err
		}
		worlds = append(worlds, known{p.World, p.Labels, dsn, p.Err})
	}
	return worlds, fmt.Sprintf("the fleet registry %q", registry), nil
}

// worldsAccount is the account for worlds whose places are in the fleet registry.
func (c *Config) worldsAccount() (config.Secret, error) {
	file, err := c.optional(false)
	if err != nil {
		return config.Secret{}, err
	}
	return file.WorldsAccount(c.env)
}

// locate finds the databases of worlds, but for those whose place cannot be used.
func (c *Config) locate(all []known) ([]World, error) {
	worlds := make([]World, len(all))
	var places []Place
	var of []*World
	for i, w := range all {
		worlds[i] = World{Place{Arg: w.name, Name: w.name}, w.labels, w.err}
		if w.err != nil {
			continue
		}
		dsn, err := w.dsn()
		if err != nil {
			return nil, err
		}
		places = append(places, Place{Arg: w.name, Name: w.name, DSN: dsn})
		of = append(of, &worlds[i])
	}
	nameDSNs(places)
	for i, p := range places {
		of[i].Place = p
	}
	return worlds, nil
}
