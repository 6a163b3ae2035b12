// Package config reads config.toml, the one file that the example server and
// the tools share. The commented sample at the top of the repository shows
// all that it may hold.
//
// The file is read strictly: a key that is not known is an error, as a typing
// error would otherwise silently change what is checked. Every problem names
// its line, and what would be right. What may be secret, that is every DSN and
// every key, is kept in a [Secret] and never part of an error.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/nearest"
)

// Config is what a file says. Sections that are not there are zero.
type Config struct {
	Server   Server
	Database Database
	Registry Database // the fleet registry; zero if there is none
	Sources  []Source // in the order of the file, each with a name of its own
	Check    Check    // for the merge check
	Merge    Merge    // for the merge

	file      string
	publicIDs []publicID
}

// Server is the section [server]: what one game server is.
type Server struct {
	// Number is the number in all IDs that the server makes. It is 0 if the
	// file does not say.
	Number gameid.ServerID

	// Name is for people: it is shown in logs and in the registry.
	Name string

	// Listen is the address for HTTP, host:port. Without a host it is every
	// address of the machine. The default is DefaultListen.
	Listen string
}

// DefaultListen is where a game server listens unless the file says otherwise.
const DefaultListen = "127.0.0.1:8080"

// Database says where a database is: by a DSN in the file, or by the name of
// an environment variable that holds it. The zero Database is one that the
// file does not mention.
type Database struct{ dsn held }

// Source is one [[source]]: a database under a name, for the tools.
type Source struct {
	Name     string
	Database Database
}

// Load reads the file at path.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return Parse(path, string(text))
}

// Parse reads the text of a file. The name is for messages. Problems with the
// text are of type [*Error], joined if there are several.
func Parse(file, text string) (*Config, error) {
	doc, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	c := &Config{file: file}
	root := doc.root()

	if s, ok := root.section("server"); ok {
		c.Server.Number = gameid.ServerID(s.integer("number", 1, int64(gameid.MaxServer)))
		c.Server.Name = s.text("name", label)
		c.Server.Listen = s.text("listen", address)
		s.end()
	}
	if c.Server.Listen == "" {
		c.Server.Listen = DefaultListen
	}
	if s, ok := root.section("database"); ok {
		c.Database = s.database()
		s.end()
	}
	if s, ok := root.section("registry"); ok {
		c.Registry = s.database()
		s.end()
	}
	c.publicIDs = root.publicIDs()
	lines := make(map[string]int)
	for _, s := range root.sections("source") {
		source := Source{Name: s.text("name", sourceName), Database: s.database()}
		if !s.has("name") {
			s.lacks("name", `want a short name for the tools, such as name = "s1"`)
		} else if first, taken := lines[source.Name]; taken && source.Name != "" {
			s.problem("name", fmt.Sprintf("%q is the name of the source in line %d already", source.Name, first))
		} else {
			lines[source.Name] = s.line("name")
		}
		c.Sources = append(c.Sources, source)
		s.end()
	}
	c.Check = root.check()
	c.Merge = root.merge()
	root.end()
	if err := doc.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// CheckServer returns an error that says what a game server needs to know and
// the file does not say.
func (c *Config) CheckServer() error {
	if !c.Server.Number.IsValid() {
		return &Error{File: c.file, Key: "server.number", Problem: fmt.Sprintf(
			"is missing: want a number from 1 to %d that no other game server has", gameid.MaxServer)}
	}
	if c.Database == (Database{}) {
		return &Error{File: c.file, Key: "database", Problem: `is missing: want a section [database] with a dsn, such as "sqlite:data/s1.db"`}
	}
	return nil
}

// Source returns the source of that name.
func (c *Config) Source(name string) (Source, error) {
	var names []string
	for _, s := range c.Sources {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return Source{}, fmt.Errorf("%s: no source %q: the file has no [[source]]", c.file, name)
	}
	return Source{}, fmt.Errorf("%s: no source %q%s: it has %s", c.file, name, nearest.Hint(name, names), strings.Join(names, ", "))
}

// DSN returns the DSN. One that is kept in the environment is looked up there
// now, with os.LookupEnv or the like, so that a file can mention databases
// that are not at hand everywhere.
func (d Database) DSN(lookup func(name string) (value string, ok bool)) (Secret, error) {
	return d.dsn.find(lookup, dsnForm)
}

// FindRegistry returns the DSN of the fleet registry: the given one, which may
// be empty, or else that of the file at path. The zero Secret says that the
// file, or the section [registry] in it, is not there.
func FindRegistry(dsn, path string, lookup func(name string) (value string, ok bool)) (Secret, error) {
	if dsn != "" {
		return NewSecret(dsn), nil
	}
	c, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Secret{}, nil
	}
	if err != nil {
		return Secret{}, err
	}
	return c.Registry.DSN(lookup)
}

// FindDSN returns the DSN of the database that an argument of a tool means: a
// DSN is meant as it stands, anything else is the name of a source in the
// file at path.
func FindDSN(arg, path string, lookup func(name string) (value string, ok bool)) (Secret, error) {
	if strings.Contains(arg, ":") {
		return NewSecret(arg), nil
	}
	if strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".db") {
		return Secret{}, fmt.Errorf("%q is neither a DSN nor the name of a source: for an SQLite file write \"sqlite:%s\"", arg, arg)
	}
	c, err := Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Secret{}, fmt.Errorf("no source %q without a configuration file: want a DSN, such as \"sqlite:data/s1.db\", or the file: %w", arg, err)
	}
	if err != nil {
		return Secret{}, err
	}
	s, err := c.Source(arg)
	if err != nil {
		return Secret{}, err
	}
	return s.Database.DSN(lookup)
}
