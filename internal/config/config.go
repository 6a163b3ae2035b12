// Package config reads config.toml, the file of the tools: the fleet registry, and the
// databases that they know by name. The sample at the top of the repository shows every
// section and key.
//
// The file is read strictly, since a typing error would otherwise silently change
// what is checked. Every DSN is kept in a [Secret], and is never part of an
// error.
package config

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/strict"
)

// Config is the content of a file. Missing sections are zero.
type Config struct {
	Registry Database // the fleet registry; zero if there is none

	worldsAccount held // of [registry]

	Sources []Source // in the order of the file, each with a name of its own

	file string
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

// Parse reads the text of a file. The name is for messages. The other sections, such as [check],
// are for the tools, which pass functions that read them; one that no function reads is a problem.
// Problems with the text are of type
// [*strict.Error], joined if there are several.
func Parse(file, text string, tools ...func(root *strict.Section)) (*Config, error) {
	c := &Config{file: file}
	if err := strict.Read(file, text, c.reader(tools)); err != nil {
		return nil, err
	}
	return c, nil
}

// Shape returns what the file may have, together with what the tools read of it; for schemas.
func Shape(tools ...func(root *strict.Section)) *strict.Shape {
	return strict.ShapeOf(new(Config).reader(tools))
}

func (c *Config) reader(tools []func(root *strict.Section)) func(root *strict.Section) {
	return func(root *strict.Section) {
		root.Section("registry", func(s *strict.Section) {
			c.Registry = database(s)
			c.worldsAccount = readOptional(s, "worlds_account", accountForm)
		})
		c.Sources = sources(root)
		for _, read := range tools {
			read(root)
		}
	}
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
	return Source{}, fmt.Errorf("%s: no source %q%s: it has %s", c.file, name, naming.Hint(name, names), strings.Join(names, ", "))
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
