// Package config reads config.toml, the file that game servers and tools share:
// servers, sources and secrets. The sample at the top of the repository shows
// every section and key.
//
// The file is read strictly, since a typing error would otherwise silently change
// what is checked. Every DSN and every key is kept in a [Secret], and is never
// part of an error.
package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"mergesafe/gameid"
	"mergesafe/internal/nearest"
	"mergesafe/internal/strict"
)

// Config is the content of a file. Missing sections are zero.
type Config struct {
	Server   Server
	Database Database
	Registry Database // the fleet registry; zero if there is none

	worldsAccount held // of [registry]

	// AcceptLossyDatabase is accept_lossy_database of [database]: the game server
	// starts although its database may lose confirmed changes.
	AcceptLossyDatabase bool

	Sources []Source // in the order of the file, each with a name of its own

	file      string
	publicIDs []publicID
}

// Server is the section [server]: what one game server is.
type Server struct {
	// Number is the number in all IDs that the server makes. It is 0 if the
	// file does not say.
	Number gameid.ServerID

	// Numbers is instead of Number: the processes of the server take any free
	// number of this range.
	Numbers Numbers

	// Name is for people: it is shown in logs and in the registry.
	Name string

	// Listen is the address for HTTP, host:port. Without a host it is every
	// address of the machine. The default is 127.0.0.1:8080.
	Listen string
}

// Database is the DSN of a database: in the file, or in an environment variable that
// the file names. The zero Database is one that the file does not mention.
type Database struct {
	dsn held
	tls string // as parameters of the DSN
}

// Load reads the file at path. See [Parse].
func Load(path string, tools ...func(root *strict.Section)) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return Parse(path, string(text), tools...)
}

// Parse reads the text of a file. The name is for messages. The sections [check],
// [merge] and [fleet] are for the tools, which pass functions that read them; without
// such a function they are ignored. Problems with the text are of type
// [*strict.Error], joined if there are several.
func Parse(file, text string, tools ...func(root *strict.Section)) (*Config, error) {
	c := &Config{file: file}
	if err := strict.Read(file, text, c.reader(tools)); err != nil {
		return nil, err
	}
	c.Server.Listen = cmp.Or(c.Server.Listen, "127.0.0.1:8080")
	return c, nil
}

// Shape returns what the file may have, together with what the tools read of it; for schemas.
func Shape(tools ...func(root *strict.Section)) *strict.Shape {
	return strict.ShapeOf(new(Config).reader(tools))
}

func (c *Config) reader(tools []func(root *strict.Section)) func(root *strict.Section) {
	return func(root *strict.Section) {
		root.Section("server", func(s *strict.Section) {
			c.Server.Number = gameid.ServerID(s.Integer("number", 1, int64(gameid.MaxServer)))
			c.Server.Numbers = numbers(s)
			c.Server.Name = s.Text("name", strict.Label)
			c.Server.Listen = s.Text("listen", address)
		})
		root.Section("database", func(s *strict.Section) {
			c.Database = database(s)
			c.AcceptLossyDatabase = s.Boolean("accept_lossy_database")
		})
		root.Section("registry", func(s *strict.Section) {
			c.Registry = database(s)
			c.worldsAccount = readOptional(s, "worlds_account", accountForm)
		})
		c.publicIDs = publicIDs(root)
		c.Sources = sources(root)
		root.Know("check", "merge", "fleet")
		for _, read := range tools {
			read(root)
		}
	}
}

// numbers reads the key numbers, which may be there instead of number.
func numbers(s *strict.Section) (n Numbers) {
	s.Text("numbers", func(text string) (problem string) {
		n, problem = parseNumbers(text)
		return problem
	})
	if s.Has("number") && s.Has("numbers") {
		s.Problem("numbers", "and number are both there: want one of them")
	}
	return n
}

// database reads the keys dsn and dsn_env, of which one must be there, and those
// of TLS.
func database(s *strict.Section) Database {
	d := Database{dsn: readHeld(s, "dsn", dsnForm)}
	var parameters []string
	for _, key := range []string{"tls_ca", "tls_cert", "tls_key", "tls_server_name"} {
		value := s.Text(key, func(text string) string {
			if text == "" {
				return "is empty: want " + map[bool]string{true: "the name in the server's certificate", false: "the path of a PEM file"}[key == "tls_server_name"]
			}
			return ""
		})
		if value != "" {
			parameters = append(parameters, strings.ReplaceAll(key, "_", "-")+"="+strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
		}
		if value != "" && strings.HasPrefix(d.dsn.secret.Reveal(), "sqlite:") {
			s.Problem(key, "is for MySQL, and the dsn is an SQLite file: take it out")
		}
	}
	d.tls = strings.Join(parameters, "&")
	return d
}

// CheckServer returns an error that says what a game server needs to know and
// the file does not say.
func (c *Config) CheckServer() error {
	if !c.Server.Number.IsValid() && c.Server.Numbers == (Numbers{}) {
		return &strict.Error{File: c.file, Key: "server.number", Problem: fmt.Sprintf(
			`is missing: want a number from 1 to %d that no other game server has, or numbers = "40-59" for processes that share a range`, gameid.MaxServer)}
	}
	if c.Database == (Database{}) {
		return &strict.Error{File: c.file, Key: "database", Problem: `is missing: want a section [database] with a dsn, such as "sqlite:data/s1.db"`}
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
	dsn, err := d.dsn.find(lookup, dsnForm)
	if err != nil || d.tls == "" {
		return dsn, err
	}
	text := dsn.Reveal()
	sep := "?"
	if strings.Contains(text[strings.LastIndex(text, ")/")+1:], "?") {
		sep = "&"
	}
	return NewSecret(text + sep + d.tls), nil
}

// WorldsAccount returns the account, user:password, with which the tools work with worlds
// whose places are in the fleet registry. It is zero if the file has none; one that is kept in
// the environment is looked up there now.
func (c *Config) WorldsAccount(lookup func(name string) (value string, ok bool)) (Secret, error) {
	return c.worldsAccount.find(lookup, accountForm)
}

// The checks of texts. Each returns what is wrong, or "".

func address(s string) string {
	const want = `want host:port, such as "127.0.0.1:8080", or ":8080" for every address of the machine`
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "is not an address: " + want
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && port != "0" {
		return "has no port from 0 to 65535: " + want
	}
	return ""
}
