package cli

import (
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// FleetDSN is the variable of the environment that stands for the DSN of -fleet; see [Typed].
const FleetDSN = "$FLEET_DSN"

// NewDSN stands for the DSN of the database that a merge makes.
const NewDSN = "$NEW_DSN"

// Typed is a flag as it was typed, in words for [Line]. If it has a DSN with a secret, that is
// not shown: variable stands for it.
func Typed(cmd *cliv3.Command, f cliv3.Flag, variable string) (words []string) {
	flag := f.Names()[0]
	word := "-" + flag
	switch f.(type) {
	case *cliv3.BoolFlag:
		if !cmd.Bool(flag) {
			word += "=false"
		}
		return []string{word}
	case *cliv3.StringSliceFlag:
		for _, value := range cmd.StringSlice(flag) {
			words = append(words, word, value)
		}
		return words
	case *cliv3.StringFlag:
		value := cmd.String(flag)
		if variable != "" && sqldb.Redact(value) != value {
			return []string{word, variable}
		}
		return []string{word, MaskedWord(value)}
	}
	return []string{word, fmt.Sprint(cmd.Value(flag))}
}

// Line is a command line for a shell. Nothing in the words is more than a word, wherever they
// come from, but the variables of [Typed].
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		switch word {
		case FleetDSN, NewDSN:
			quoted[i] = `"` + word + `"`
		default:
			quoted[i] = printable.Quoted(word)
		}
	}
	return strings.Join(quoted, " ")
}
