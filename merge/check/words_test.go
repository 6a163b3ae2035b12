package check_test

import (
	"testing"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// No word can be spared: plain is not shared, and undecided is not the absence of a word.
func TestWordsDiffer(t *testing.T) {
	spells := []string{"CREATE TABLE @.prices (spell INTEGER, day INTEGER, PRIMARY KEY (spell, day))", "CREATE TABLE @.heroes (id INTEGER PRIMARY KEY, favourite INTEGER)"}
	known := [][]string{
		{"INSERT INTO @.prices VALUES (7, 1), (8, 1)", "INSERT INTO @.heroes VALUES (1, 9)"},
		{"INSERT INTO @.prices VALUES (7, 2), (9, 1)", "INSERT INTO @.heroes VALUES (2, 9)"},
	}
	with := func(d rules.Declarations) rules.Declarations {
		d.Shared = append(d.Shared, "prices.day")
		return d
	}
	parties := []string{"CREATE TABLE @.heroes (id INTEGER PRIMARY KEY, party INTEGER)"}
	shared := [][]string{{"INSERT INTO @.heroes VALUES (1, 1000), (2, 1000)"}, {"INSERT INTO @.heroes VALUES (3, 1000)"}}
	for name, c := range map[string]struct {
		tables []string
		rows   [][]string
		d      rules.Declarations
		want   verdict.Verdict
	}{
		"shared":    {spells, known, with(rules.Declarations{Shared: []string{"prices.spell"}}), verdict.Pass},
		"plain":     {spells, known, with(rules.Declarations{Plain: []string{"prices.spell"}}), verdict.NotVerified}, // heroes.favourite may be one
		"undecided": {parties, shared, rules.Declarations{Undecided: []string{"heroes.party"}}, verdict.NotVerified},
		"absent":    {parties, shared, rules.Declarations{}, verdict.Pass}, // two parties become one, and no table shows it
	} {
		t.Run(name, func(t *testing.T) {
			if report := attackWorlds(t, c.tables, c.rows...).check(t, rules.Options{Rules: []rules.Declarations{c.d}}); report.Verdict != c.want {
				t.Errorf("%s, want %s\n%s", report.Verdict, c.want, brief(report))
			}
		})
	}
}
