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
var secretly = map[string]string{"fleet": cli.FleetDSN, "on": cli.RehearsalDSN}

// command is what to type for a command about the same campaign.
func (n *night) command(name string, targets ...string) string {
	return commandOf(n.cmd, name, n.book.File(), targets...)
}

// kept is command for advice that the state keeps: it says which worlds it is about, and has no flag by which only this
// run was slowed or divided.
func (n *night) kept(name string, targets ...string) string {
	return commandWith(n.cmd, name, n.book.File(), func(flag string) bool { return slices.Contains(lasting[:3], flag) }, targets...)
}

// commandOf is what to type for another command about a campaign, with the flags of cmd; for the
// same command again with all of them.
func commandOf(cmd *cliv3.Command, name, file string, targets ...string) string {
	return commandWith(cmd, name, file, func(flag string) bool { return name == cmd.Name || slices.Contains(lasting, flag) }, targets...)
}

// commandWith is such a command, with those of the flags that take says.
func commandWith(cmd *cliv3.Command, name, file string, take func(flag string) bool, targets ...string) string {
	words := []string{"fleet", name}
	if of := cmd.Root().Command(name); of != nil {
		for _, f := range of.Flags {
			flag := f.Names()[0]
			if flag == "all" && len(targets) > 0 { // undo takes one of them
				continue
			}
			if cmd.IsSet(flag) && take(flag) {
				words = append(words, cli.Typed(cmd, f, secretly[flag])...)
			}
		}
	}
	return cli.Line(append(append(words, file), targets...))
}

// secrets says of the variables in some lines what they stand for, unless they are set so.
func (n *night) secrets(lines string) (notes []string) {
	for _, flag := range []string{"fleet", "on"} {
		variable := secretly[flag]
		if now, _ := n.env(variable[1:]); strings.Contains(lines, `"`+variable+`"`) && now != n.cmd.String(flag) {
			note := variable + " stands for the DSN of -" + flag + ", which has a password: set that variable before you paste a command"
			if flag == "fleet" {
				note += ", or name the registry in config.toml ([registry] with dsn_env)"
			}
			notes = append(notes, note+".")
		}
	}
	return notes
}
