package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"mergesafe/internal/nearest"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// A message quotes what was typed, and what was typed may be a DSN in the wrong place, or a flag of
// another program such as -pPASSWORD. So the log of a run replaces each word of the command line that
// may have a password in it, whatever made the message: this program, a library, the system.

// Forms in which words of a command line may be shown that [sqldb.Redact] does not show.
var (
	listed = regexp.MustCompile("^[\\pL\\pN\\p{So}_.,*?{}\\[\\]()$#+~!/\\\\'` -]*$")        // files, columns, patterns and lists of them
	paired = regexp.MustCompile(`^(?:[\pL\pN_.*{}-]+|\[[0-9A-Fa-f:.]+\]):[\pL\pN_.*{}-]+$`) // a code and a column, a host and a port
	timed  = regexp.MustCompile(`^[0-9TZ.:+ -]+$`)
	named  = regexp.MustCompile(`^[\pL\pN_.-]{1,40}=`)
	worded = regexp.MustCompile(`(?i)^(?:mysql|sqlite):|(?:pass|pwd|secret|token|key)\pL*[ :]|(?:^|[ /\\])--?\pL`)
)

// Shown is a word of a command line as it may be shown. What may be a DSN in the wrong place is ***,
// behind the prefix or the name of a parameter that it has.
func Shown(word string) string {
	info, err := os.Stat(word)
	exists := err == nil && info.Mode().IsRegular() // no command makes a file of a name that is not shown
	form := listed.MatchString(word) || paired.MatchString(word) || timed.MatchString(word)
	if exists || form && !worded.MatchString(word) {
		return word
	}
	shown := sqldb.Redact(word)
	if shown == "***" {
		shown = named.FindString(word) + shown
	}
	return shown
}

// shownFlag is an unknown flag as it may be shown. It may be one of another program, with its value.
func shownFlag(name string) string {
	if len(name) > 1 && (!plainFlag.MatchString(name) || name[0] == 'p') {
		return name[:1] + "***"
	}
	return name
}

var plainFlag = regexp.MustCompile(`^[a-z-]{1,24}$`)

// mask replaces in messages what is not shown of a command line.
type mask struct {
	whole  *strings.Replacer
	hidden []string // the words, the longest first
	parts  []string // of lists, which may be plain by themselves
}

func maskOf(root *cli.Command, args []string) *mask {
	m := new(mask)
	add := func(word string) {
		if len(word) > 1 && Shown(word) != word {
			m.hidden = append(m.hidden, word)
		}
	}
	flags := flagsOf(root)
	for _, arg := range args[min(1, len(args)):] {
		name, value, assigned := strings.Cut(flagOf(arg), "=")
		switch {
		case slices.Contains(flags, name) && assigned:
			arg = value
		case name != "" && !assigned && (shownFlag(name) == name || nearest.Hint(name, flags) != ""):
			continue
		}
		add(arg)
		add(filepath.Dir(arg))
		add(filepath.Clean(arg))
		for part := range strings.SplitSeq(arg, ",") { // of a list
			add(strings.TrimSpace(part))
			if Shown(arg) != arg {
				m.parts = append(m.parts, strings.TrimSpace(part))
			}
		}
	}
	slices.SortFunc(m.hidden, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, word := range m.hidden {
		text := printable.Text(word)
		for _, form := range []string{word, text, strings.ReplaceAll(text, "'", `'\''`)} {
			pairs = append(pairs, form, Shown(word))
		}
	}
	m.whole = strings.NewReplacer(pairs...)
	return m
}

var goQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// of is a message without the hidden words, and without what is quoted of their beginnings.
func (m *mask) of(text string) string {
	if m == nil || len(m.hidden) == 0 {
		return text
	}
	text = goQuoted.ReplaceAllStringFunc(text, func(quoted string) string {
		inner, err := strconv.Unquote(quoted)
		if err != nil {
			return quoted
		}
		for _, word := range m.hidden {
			if len(inner) > 3 && strings.HasPrefix(word, inner) {
				return `"` + Shown(word) + `"`
			}
		}
		if slices.Contains(m.parts, inner) {
			return `"***"`
		}
		if shown := m.whole.Replace(inner); shown != inner {
			return strconv.Quote(shown)
		}
		return quoted
	})
	return m.whole.Replace(text)
}

// flagsOf are the names of all flags of a command and of those below it.
func flagsOf(cmd *cli.Command) []string {
	names := []string{"version", "man", "completion", "complete", "help", "h"} // see about
	for _, f := range cmd.Flags {
		names = append(names, f.Names()...)
	}
	for _, sub := range cmd.Commands {
		names = append(names, flagsOf(sub)...)
	}
	return names
}
