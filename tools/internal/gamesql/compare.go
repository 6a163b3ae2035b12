package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/gamesql"
)

// report is how the rules of a game compare with its source.
type report struct {
	gamesql.Found
	title, source     string
	has, shared, stay int // relations: the rules have them; the game's own data; of tables that stay behind
	why, open         []judged
	members           int // of the program, that are bound to columns that move
	doubts            []doubt
}

// judged is a relation that the rules do not have.
type judged struct {
	gamesql.Relation
	a, b string // what the rules say of its columns
	why  string // "" if no comment says
}

// doubt is columns that are bound to one member of the program, and of which not all move alike.
type doubt struct{ member, columns, why string }

func (p *profile) compare(title string, found gamesql.Found) *report {
	r := &report{Found: found, title: title, source: p.source}
	for _, rel := range found.Relations {
		a, ofA := p.of(rel.A)
		b, ofB := p.of(rel.B)
		j := judged{rel, a, b, p.why[[2]string{rel.A.String(), rel.B.String()}]}
		switch {
		case slices.ContainsFunc(ofA, func(s string) bool { return slices.Contains(ofB, s) }):
			r.has++
		case j.why != "":
			r.why = append(r.why, j)
		case a == "shared" && b == "shared":
			r.shared++
		case p.stays(rel.A.Table) || p.stays(rel.B.Table):
			r.stay++
		default:
			r.open = append(r.open, j)
		}
	}
	r.byMember(p)
	return r
}

// byMember compares the columns that are bound to one member: if one of them moves, all should.
func (r *report) byMember(p *profile) {
	groups := make(map[string][]gamesql.Column)
	for _, b := range r.Bindings {
		if m := member(b.Value); m != "" && !slices.Contains(groups[m], b.Column) {
			groups[m] = append(groups[m], b.Column)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(groups)) {
		var moves, others, common []string
		for _, c := range groups[m] {
			kind, of := p.of(c)
			switch {
			case kind == "key" || kind == "reference":
				if moves = append(moves, c.String()); len(moves) == 1 {
					common = of
				}
				common = slices.DeleteFunc(common, func(one string) bool { return !slices.Contains(of, one) })
			case !p.stays(c.Table):
				others = append(others, c.String())
			}
		}
		if len(moves) == 0 {
			continue
		}
		if r.members++; len(others) > 0 || len(common) == 0 {
			beside := cmp.Or(strings.Join(others, ", "), "each other")
			r.doubts = append(r.doubts, doubt{m, strings.Join(moves, ", ") + " beside " + beside, p.why[[2]string{m, ""}]})
		}
	}
}

var (
	column  = regexp.MustCompile(`^[\w.]*get\w*\((?:\w+,)?"(\w+)"\)$`) // rs.getInt("characterid")
	general = regexp.MustCompile(`[^a-z0-9]|^(|.{1,3}|type|value|name|index|count|level|time|slot|left)$`)
)

// member is the last word of a value, if that says what the value is; "" otherwise.
func member(value string) string {
	value = column.ReplaceAllString(strings.TrimSuffix(value, "()"), "$1")
	value = value[strings.LastIndexAny(value, ".:")+1:]
	value = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, "get")), "_", "")
	if general.MatchString(value) {
		return ""
	}
	return value
}

// page writes the tables of docs/profiles.md.
func page(w io.Writer, all []*report) {
	fmt.Fprint(w, "| game | statements | relations | in the profile | game's own data | stay behind | explained | open | "+
		"members | doubtful |\n"+strings.Repeat("|---", 10)+"|\n")
	for _, r := range all {
		fmt.Fprintf(w, "| %s | %d + %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", r.title, r.Statements, r.Computed,
			len(r.Relations), r.has, r.shared, r.stay, len(r.why), len(r.open), r.members, len(r.doubts))
	}
	fmt.Fprintln(w)
	for _, r := range all {
		fmt.Fprintf(w, "* %s: %s\n", r.title, r.source)
		for _, j := range slices.Concat(r.why, r.open) {
			fmt.Fprintf(w, "  * `%s` = `%s`: %s\n", j.A, j.B, cmp.Or(j.why, "open"))
		}
		for _, d := range r.doubts {
			fmt.Fprintf(w, "  * by the member `%s`: %s: %s\n", d.member, d.columns, cmp.Or(d.why, "open"))
		}
	}
}

// doubtful writes what a person has to look at.
func (r *report) doubtful(w io.Writer) {
	for _, j := range r.open {
		places := strings.Join(j.At[:min(3, len(j.At))], " ")
		fmt.Fprintf(w, "%s: %s (%s) = %s (%s): %s\n", r.title, j.A, j.a, j.B, j.b, places)
	}
	for _, d := range r.doubts {
		if d.why == "" {
			fmt.Fprintf(w, "%s: %s: %s\n", r.title, d.member, d.columns)
		}
	}
}
