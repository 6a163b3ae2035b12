package main

import (
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

// What to type next is in this file. It has the flags that the operator gave, as far as the
// other command knows them, so that it does the same when it is pasted.

// lasting are the flags that another command about the same campaign takes over: they say which
// worlds it is about, and how to work with their databases.
var lasting = []string{"config", "worlds", "fleet", "patience", "workers", "pause"}

// secretly are the variables of the environment that stand for DSNs of flags.
var secretly = map[string]string{"fleet": cli.FleetDSN}

// command is what to type for a command about the same campaign.
func (n *night) command(name string, merges ...string) string {
	return commandOf(n.cmd, name, n.book.File(), merges...)
}

// kept is command for advice that the state keeps: it says which worlds it is about, and has no flag by which only this
// run was slowed or divided.
func (n *night) kept(name string, merges ...string) string {
	return commandWith(n.cmd, name, n.book.File(), func(flag string) bool { return slices.Contains(lasting[:3], flag) }, merges...)
}

// commandOf is what to type for another command about a campaign, with the flags of cmd; for the
// same command again with all of them.
func commandOf(cmd *cliv3.Command, name, file string, merges ...string) string {
	same, _, _ := strings.Cut(name, " ")
	return commandWith(cmd, name, file, func(flag string) bool { return same == cmd.Name || slices.Contains(lasting, flag) }, merges...)
}

// commandWith is such a command, with those of the flags that take says. The name may have flags: "apply -try".
func commandWith(cmd *cliv3.Command, name, file string, take func(flag string) bool, merges ...string) string {
	words := append([]string{"fleet"}, strings.Fields(name)...)
	name, has, _ := strings.Cut(name, " ")
	if of := cmd.Root().Command(name); of != nil {
		for _, f := range of.Flags {
			flag := f.Names()[0]
			if flag == "try" || has == "-"+flag || flag == "all" && len(merges) > 0 { // undo takes one of them
				continue
			}
			if cmd.IsSet(flag) && take(flag) {
				words = append(words, cli.Typed(cmd, f, secretly[flag])...)
			}
		}
	}
	return cli.Line(append(append(words, file), merges...))
}

// secrets says of the variables in some lines what they stand for, unless they are set so.
func (n *night) secrets(lines string) (notes []string) {
	for flag, variable := range secretly {
		if now, _ := n.env(variable[1:]); strings.Contains(lines, `"`+variable+`"`) && now != n.cmd.String(flag) {
			notes = append(notes, variable+" stands for the DSN of -"+flag+", which contains a password: set that variable before you paste a command"+
				", or put the registry into config.toml ([registry] with dsn_env).")
		}
	}
	return notes
}
