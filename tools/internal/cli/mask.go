package cli

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// A message quotes what was typed, and what was typed may be a DSN in the wrong place, or a flag of
// another program such as -pPASSWORD. So the log of a run replaces each word of the command line that
// may have a password in it, whatever made the message: this program, a library, the system.

// Forms in which words of a command line may be shown that [sqldb.Redact] does not show.
var (
	listed = regexp.MustCompile("^[\\pL\\pN\\p{So}_.,*?{}\\[\\]()$#+~!/\\\\'` -]*$") // files, columns, patterns and lists of them
	paired = regexp.MustCompile(`^[\pL\pN_.*{}-]+:[\pL\pN_.*{}-]+$`)                 // a code and a column, a host and a port
	timed  = regexp.MustCompile(`^[0-9TZ.:+ -]+$`)
	named  = regexp.MustCompile(`^[\pL\pN_.-]{1,40}=`)
	worded = regexp.MustCompile(`(?i)^(?:mysql|sqlite)?:|(?:pass|pwd|secret|token|key)\pL*[ :]|(?:^|[ /\\])--?\pL`)
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

// maskOf replaces in messages what is not shown of a command line.
func maskOf(root *cli.Command, args []string) *strings.Replacer {
	shown := make(map[string]string) // by what it is in a message
	add := func(word string) {
		as := Shown(word)
		if as == word || len(word) < 2 {
			return
		}
		for _, form := range []string{word, filepath.Clean(word), printable.Text(word), strings.ReplaceAll(printable.Text(word), "'", `'\''`), strings.Trim(strconv.Quote(word), `"`)} {
			shown[form] = as
		}
	}
	for _, arg := range args[min(1, len(args)):] {
		name, value, assigned := strings.Cut(flagOf(arg), "=")
		switch known := knows(root, name); {
		case known && assigned:
			arg = value
		case known:
			continue
		}
		add(arg)
		add(filepath.Dir(arg))
		for part := range strings.SplitSeq(arg, ",") { // of a list
			add(strings.TrimSpace(part))
		}
	}
	forms := slices.SortedFunc(maps.Keys(shown), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, shown[form])
	}
	return strings.NewReplacer(pairs...) // the longest that matches
}

// knows reports whether a command, or one below it, has a flag.
func knows(cmd *cli.Command, flag string) bool {
	return slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) ||
		slices.ContainsFunc(cmd.Commands, func(c *cli.Command) bool { return knows(c, flag) })
}
