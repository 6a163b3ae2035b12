package profiles

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/tools/internal/rulefile"
)

// profile is what the files of rules of a game say of its columns.
type profile struct {
	schema map[string][]string
	source string // of the last file
	rules  rulefile.Rules
	said   *rules.Declared
	spaces map[string]string // of the keys that move
	why    map[[2]string]string
}

// explained is a comment of a profile about a relation.
var explained = regexp.MustCompile(`(?m)^\s*# SQL compares (\S+) with (\S+): (.+)$`)

func load(files ...string) (*profile, error) {
	p := &profile{schema: make(map[string][]string), spaces: make(map[string]string), why: make(map[[2]string]string)}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			err = p.rules.Load(file)
		}
		if err != nil {
			return nil, err
		}
		for _, m := range explained.FindAllStringSubmatch(string(text), -1) {
			pair := []string{m[1], m[2]}
			slices.Sort(pair)
			p.why[[2]string{pair[0], pair[1]}] = m[3]
		}
	}
	names := make(rules.Names) // a list has no types: all may be keys
	for _, d := range p.rules.Check.Rules {
		for table, columns := range d.Schema.Tables {
			p.schema[table], names[table], p.source = columns, make(map[string]*catalog.Column), d.Schema.Source
			for _, c := range columns {
				names[table][c] = &catalog.Column{Name: c, Kind: catalog.KindInteger}
			}
		}
	}
	for _, s := range p.rules.Check.Rekey.Spaces {
		for _, key := range s.Keys {
			p.spaces[key] = cmp.Or(s.Name, strings.Join(s.Keys, " "))
		}
	}
	var err error
	p.said, err = rules.Declare(p.rules.Check, names)
	return p, err
}

// stays reports whether the rows of a table do not come.
func (p *profile) stays(table string) (stays bool) {
	for _, policy := range p.rules.Check.Tables {
		for _, text := range policy.Tables {
			if pattern, _, err := rules.ParsePlace(text); err == nil && pattern.Match(table) && policy.When == nil {
				stays = policy.Policy == rules.PolicySkip || policy.Policy == rules.PolicyReset
			}
		}
	}
	return stays
}

// of is what is said of a column, and what its values name: the space of a key, or a key or name that does not move.
func (p *profile) of(c column) (kind string, named []string) {
	role := p.said.Role(c.Table, c.Name)
	kind = role.Kind.String()
	add := func(key string) { named = append(named, cmp.Or(p.spaces[key], key)) }
	for _, r := range slices.Concat(role.References, p.said.Composite) {
		if i := slices.Index(r.Columns, c.Name); r.Table == c.Table && i >= 0 && r.Space == "" {
			kind = "reference"
			add(r.ToTable + "." + r.ToColumns[i])
		} else if r.Table == c.Table && i >= 0 {
			add(r.Space)
		}
		for _, or := range r.Or {
			add(or.String())
		}
	}
	if space := p.spaces[c.String()]; space != "" {
		kind, named = "key", append(named, space)
	}
	for _, name := range p.rules.Copies {
		of := name.OfTable + "." + name.OfColumn
		if c.String() == of || c.String() == name.Table+"."+name.Column {
			add("name " + of)
		}
	}
	return kind, named
}
