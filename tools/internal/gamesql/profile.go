package main

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/gamesql"
	"mergesafe/merge/declare"
	"mergesafe/tools/internal/rules"
)

// profile is what the files of rules of a game say of its columns.
type profile struct {
	schema map[string][]string
	source string // of the last file
	said   map[gamesql.Column]*said
	stays  map[string]bool // tables whose rows do not come
	why    map[[2]string]string
	files  int
}

// said is what is said of a column.
type said struct {
	kind string // plain, shared, undecided, reference, key; "" if nothing is
	rank int
	of   []string // what its values name: the space of a key, or the key
}

func newProfile() *profile {
	return &profile{schema: make(map[string][]string), said: make(map[gamesql.Column]*said), stays: make(map[string]bool),
		why: make(map[[2]string]string)}
}

// explained is a comment of a profile, of a relation or of a member of the program.
var explained = regexp.MustCompile(`(?m)^\s*# SQL (?:compares (\S+) with (\S+)|binds (\S+)): (.+)$`)

// load adds what a file says. It counts in the place of what the files before it say.
func (p *profile) load(file string) error {
	var r rules.Rules
	text, err := os.ReadFile(file)
	if err == nil {
		err = r.Load(file)
	}
	if err != nil {
		return err
	}
	for _, m := range explained.FindAllStringSubmatch(string(text), -1) {
		pair := []string{m[1], m[2]}
		slices.Sort(pair)
		if m[3] != "" {
			pair[0] = m[3]
		}
		p.why[[2]string(pair)] = m[4]
	}
	p.files++
	spaces := make(map[string]string)
	if r.Check.Rekey != nil {
		for _, s := range r.Check.Rekey.Spaces {
			for _, key := range s.Keys {
				spaces[key] = cmp.Or(s.Name, strings.Join(s.Keys, " "))
			}
		}
	}
	named := func(keys ...string) (of []string) {
		for _, key := range keys {
			of = append(of, cmp.Or(spaces[key], strings.TrimPrefix(key, "space:")))
		}
		return of
	}
	for _, d := range r.Check.Rules {
		if d.Schema != nil {
			maps.Copy(p.schema, d.Schema.Tables)
			p.source = d.Schema.Source
		}
		for kind, list := range map[string][]string{"plain": d.Plain, "shared": append(d.Shared, d.Natural...), "undecided": d.Undecided} {
			for _, text := range list {
				p.say(text, d.Schema, kind)
			}
		}
		for _, ref := range d.References {
			for _, text := range ref.At {
				p.say(text, d.Schema, "reference", named(ref.To...)...)
			}
			for k := range ref.Columns { // several together
				p.say(ref.Table+"."+ref.Columns[k], d.Schema, "reference", named(ref.ToTable+"."+ref.ToColumns[k])...)
			}
		}
	}
	for key, space := range spaces {
		p.say(key, nil, "key", space)
	}
	for _, c := range r.Copies {
		p.say(c.Table+"."+c.Column, nil, "name", "name "+c.OfTable+"."+c.OfColumn)
		p.say(c.OfTable+"."+c.OfColumn, nil, "name", "name "+c.OfTable+"."+c.OfColumn)
	}
	for _, policy := range r.Check.Tables {
		for table := range p.schema {
			for _, text := range policy.Tables {
				if pattern, _, err := declare.ParsePlace(text); err == nil && pattern.Match(table) && policy.When == nil {
					p.stays[table] = policy.Policy == declare.PolicySkip || policy.Policy == declare.PolicyReset
				}
			}
		}
	}
	return nil
}

// say notes what is said of the columns that a pattern matches.
func (p *profile) say(text string, schema *declare.Reviewed, kind string, of ...string) {
	table, column, err := declare.ParsePlace(text)
	if err != nil || column == nil {
		return // a file that was read has none
	}
	rank := p.files
	if table.Exact != "" && column.Exact != "" || kind == "key" {
		rank += 100
	}
	for t, columns := range p.schema {
		for _, c := range columns {
			at := gamesql.Column{Table: t, Name: c}
			if !table.Match(t) || !column.Match(c) || !schema.Has(declare.ColumnName{Table: t, Column: c}) {
				continue
			}
			switch old := p.of(at); {
			case kind == "name", kind == "reference" && old.kind == kind && rank == old.rank:
				p.said[at] = &said{old.kind, old.rank, append(slices.Clone(old.of), of...)}
			case rank > old.rank:
				p.said[at] = &said{kind, rank, of}
			}
		}
	}
}

func (p *profile) of(c gamesql.Column) said {
	if s := p.said[c]; s != nil {
		return *s
	}
	return said{}
}
