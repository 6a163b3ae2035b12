package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"mergesafe/internal/naming"
	"mergesafe/internal/strict"
)

// Source is one [[source]], or one line of a file of worlds: a database under a name, for the
// tools.
type Source struct {
	Name     string
	Database Database

	// Labels say what people want to know of a world, such as its language and time zone.
	// They are not secret.
	Labels map[string]string
}

const exampleLabels = `{ language = "de", zone = "Europe/Berlin" }`

// sources reads all [[source]]. One whose name has a range of numbers, as w{1..400}, is as
// many sources.
func sources(root *strict.Section) (all []Source) {
	lines := make(map[string]int)
	root.Sections("source", func(s *strict.Section) {
		source := Source{Name: s.Text("name", sourceNames), Database: database(s), Labels: labels(s)}
		if !s.Has("name") {
			s.Lacks("name", `want a short name for the tools, such as name = "s1"`)
		}
		if source.Name == "" {
			return
		}
		expanded, problem := source.expand()
		if problem != "" {
			s.Problem("name", "%s", problem)
			return
		}
		for _, one := range expanded {
			if first, taken := lines[one.Name]; taken {
				s.Problem("name", "%q is the name of the source in line %d already", one.Name, first)
				return
			}
			lines[one.Name] = s.Line("name")
		}
		all = append(all, expanded...)
	})
	return all
}

// expand returns the sources that a source with ranges of numbers stands for.
func (s Source) expand() (all []Source, problem string) {
	names, ok := naming.ExpandPattern(s.Name)
	if !ok {
		return nil, fmt.Sprintf("is no range of names: want one of at most %d numbers, such as w{1..400}", naming.MaxRange)
	}
	if len(names) == 1 && names[0] == s.Name {
		return []Source{s}, ""
	}
	const want = `want one range of as many numbers in the dsn, such as dsn = "sqlite:worlds/w{1..400}.db"`
	if s.Database.dsn.env != "" {
		return nil, fmt.Sprintf("stands for %d sources, and dsn_env for one database: %s", len(names), want)
	}
	dsns, ok := naming.ExpandPattern(s.Database.dsn.secret.Reveal())
	if !ok || len(dsns) != len(names) {
		return nil, fmt.Sprintf("stands for %d sources, and the dsn does not stand for as many databases: %s", len(names), want)
	}
	for i, name := range names {
		one := s
		one.Name, one.Database.dsn.secret = name, NewSecret(dsns[i])
		all = append(all, one)
	}
	return all, ""
}

// labels reads the key labels.
func labels(s *strict.Section) map[string]string {
	s.Secret("labels") // see labelValue
	all := s.TextsByName("labels", exampleLabels, labelValue)
	for name := range all {
		if problem := labelName(name); problem != "" {
			s.Problem("labels", "have a name that %s", problem)
			return nil
		}
	}
	return all
}

var plainLabel = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

func labelName(s string) string {
	if !plainLabel.MatchString(s) {
		return "is no name of a label: want letters, digits and _, such as language"
	}
	return ""
}

// labelValue refuses what may be a DSN in the wrong place, since labels are shown.
func labelValue(s string) string {
	if isDSN(s) || strict.LooksLikeDSN(s) {
		return "looks like a DSN, and labels are shown: want it under dsn"
	}
	return strict.Label(s)
}

// sourceNames checks a name that may have ranges of numbers.
func sourceNames(s string) string {
	names, _ := naming.ExpandPattern(s)
	for _, name := range names {
		if problem := sourceName(name); problem != "" {
			return problem
		}
	}
	return ""
}

func sourceName(s string) string {
	if problem := strict.Label(s); problem != "" {
		return problem
	}
	if strict.LooksLikeDSN(s) || strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsAny(s, `:/\*{}`) || s[0] == '-' {
		return `is no name that a tool takes as an argument: want no space, colon, slash, star or brace, and no "-" in front`
	}
	return ""
}
