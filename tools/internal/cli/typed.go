package cli

import (
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// Typed is a flag as it was typed, in words for a shell. If it has a DSN with a secret, that is
// not shown: variable, a variable of the environment, stands for it.
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
			words = append(words, word, printable.Quoted(value))
		}
		return words
	case *cliv3.StringFlag:
		value := cmd.String(flag)
		if variable != "" && sqldb.Redact(value) != value {
			return []string{word, `"$` + variable + `"`}
		}
	}
	return []string{word, printable.Quoted(fmt.Sprint(cmd.Value(flag)))}
}
