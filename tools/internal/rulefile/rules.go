// Package rulefile reads what the sections [check], [merge] and [fleet] of a file say of the tables of the databases.
package rulefile

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"mergesafe/internal/strict"
	"mergesafe/merge"
	"mergesafe/merge/rules"
)

// Rules are what a file says of the tables. Whether a database has such tables
// and columns is for the check and the merge to find out.
type Rules struct {
	Check  rules.Options      // [check]
	Names  []merge.NamePolicy // [[merge.name]]
	Copies []merge.NameCopy   // [[check.reference]] with by

	Files []string // of rules, that config.toml names; relative to its folder, and not loaded yet
	Fleet Fleet    // [fleet] of config.toml

	roots map[string]*strict.Section // the files that were read, for Line
}

// Reader returns what reads a file of rules, whose name is for messages. Each file that is
// read adds to the rules: a later one ranks before an earlier one.
func (r *Rules) Reader(file string) func(root *strict.Section) {
	return r.reader(file, func(*strict.Section) {})
}

// ConfigReader returns what reads the same sections of config.toml, which may also name files of
// rules, and has [fleet].
func (r *Rules) ConfigReader(file string) func(root *strict.Section) {
	read := r.reader(file, func(merge *strict.Section) {
		r.Files = merge.List("rules", func(name string) string {
			if name == "" {
				return "is empty: want the path of a file of rules"
			}
			return ""
		})
	})
	return func(root *strict.Section) {
		read(root)
		r.Fleet = fleet(root)
	}
}

// reader reads a file. more reads what only some files have in [merge].
func (r *Rules) reader(file string, more func(merge *strict.Section)) func(root *strict.Section) {
	return func(root *strict.Section) {
		if r.roots == nil {
			r.roots = make(map[string]*strict.Section)
		}
		r.roots[file] = root
		reviewed := schema(root)
		earlier := len(r.Check.Rules)
		check(root, file, reviewed, r)
		mergeSection(root, file, reviewed, earlier, r, more)
		if reviewed != nil {
			listed{reviewed}.check(root)
		}
	}
}

// Load reads a file that has rules and nothing else.
func (r *Rules) Load(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	return strict.Read(file, string(text), r.Reader(file))
}

var placed = regexp.MustCompile(`\S:[0-9]+\b`)

// Hint says where to look for a statement that a check refuses; "" if the error names file and line, or is another one.
func Hint(err error) string {
	if !errors.Is(err, rules.ErrOptions) || placed.MatchString(err.Error()) {
		return ""
	}
	return "Declarations come either from [check] and [merge] in the configuration or from rule files."
}

func table(s *strict.Section, key string) string {
	need(s, key, `want the name of a table, such as %s = "characters"`)
	return s.Text(key, strict.Label)
}

func column(s *strict.Section, key string) string {
	need(s, key, `want the name of a column, such as %s = "account"`)
	return s.Text(key, strict.Label)
}

// need reports that a section lacks a key; want has a place for its name.
func need(s *strict.Section, key, want string) {
	if !s.Has(key) {
		s.Lacks(key, want, key)
	}
}
