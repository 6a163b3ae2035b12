package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/printable"

	"mergesafe/internal/sqldb"
)

// Forms in which words of a command line may be shown that [sqldb.Redact] does not show.
var (
	listed = regexp.MustCompile("^[\\pL\\pN\\p{So}_.,*?{}\\[\\]()$#+~!/\\\\'` -]*$")        // files, columns, patterns and lists of them
	paired = regexp.MustCompile(`^(?:[\pL\pN_.*{}-]+|\[[0-9A-Fa-f:.]+\]):[\pL\pN_.*{}-]+$`) // a code and a column, a host and a port
	timed  = regexp.MustCompile(`^[0-9TZ.:+ -]+$`)
	named  = regexp.MustCompile(`^[\pL\pN_.-]{1,40}=`)
	worded = regexp.MustCompile(`(?i)^(?:mysql|sqlite|postgres|postgresql):|(?:pass|pwd|secret|token|key)\pL*[ :]|(?:^|[ /\\])--?\pL`)
)

// MaskedWord returns a word of a command line as it may be shown. A word that may be a DSN in the wrong place
// is shown as ***, behind its prefix or the name of its parameter.
func MaskedWord(word string) string {
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

// maskedFlag returns the name of an unknown flag as it may be shown: -pPASSWORD is a flag of other programs.
func maskedFlag(name string) string {
	if len(name) > 1 && (!plainFlag.MatchString(name) || name[0] == 'p') {
		return name[:1] + "***"
	}
	return name
}

var flagLike = regexp.MustCompile(`^--?\pL`)

var plainFlag = regexp.MustCompile(`^[a-z-]{1,24}$`)

// mask replaces in messages what is not shown of a command line.
type mask struct {
	whole  *strings.Replacer
	hidden []hidden // the longest first
	parts  []string // of lists, which may be plain by themselves
}

type hidden struct{ word, shown string }

// newMask returns the mask of the words of a command line, without the program's name. flags are the names of the
// flags that the program knows.
func newMask(args, flags []string) *mask {
	m := new(mask)
	add := func(word, shown string) {
		if len(word) > 1 && shown != word {
			m.hidden = append(m.hidden, hidden{word, shown})
		}
	}
	for _, arg := range args {
		name, value, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		is := flagLike.MatchString(arg)
		switch {
		case is && slices.Contains(flags, name) && assigned:
			arg = value
		case is && !assigned && (maskedFlag(name) == name || naming.Hint(name, flags) != ""):
			continue
		case is && !slices.Contains(flags, name):
			add(name, maskedFlag(name))
			add("-"+name, "-"+maskedFlag(name))
		}
		for _, word := range []string{arg, filepath.Dir(arg), filepath.Clean(arg)} {
			add(word, MaskedWord(word))
		}
		for part := range strings.SplitSeq(arg, ",") { // of a list
			part = strings.TrimSpace(part)
			add(part, MaskedWord(part))
			if MaskedWord(arg) != arg {
				m.parts = append(m.parts, part)
			}
		}
	}
	slices.SortFunc(m.hidden, func(a, b hidden) int { return len(b.word) - len(a.word) })
	var pairs []string
	for _, h := range m.hidden {
		text := printable.Text(h.word)
		for _, form := range []string{h.word, text, strings.ReplaceAll(text, "'", `'\''`)} {
			pairs = append(pairs, form, h.shown)
		}
	}
	m.whole = strings.NewReplacer(pairs...)
	return m
}

var goQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Text is a message without the hidden words, and without what is quoted of their beginnings.
func (m *mask) Text(text string) string {
	if m == nil || len(m.hidden) == 0 {
		return text
	}
	text = goQuoted.ReplaceAllStringFunc(text, func(quoted string) string {
		inner, err := strconv.Unquote(quoted)
		if err != nil {
			return quoted
		}
		for _, h := range m.hidden {
			if kind := strings.HasSuffix(inner, ":") && strings.HasPrefix(h.shown, inner); len(inner) > 3 && strings.HasPrefix(h.word, inner) && !kind {
				return `"` + h.shown + `"`
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
