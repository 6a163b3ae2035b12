package main

import (
	"embed"
	"regexp"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

// The help of each command is a file of its name; NAME-json.txt is about its JSON.
//
//go:embed help
var helps embed.FS

// included matches a line that stands for another file.
var included = regexp.MustCompile(`(?m)^\{[a-z]+\}\n`)

func helpOf(name string) string {
	text, _ := helps.ReadFile("help/" + name + ".txt") // cli.CheckHelp finds a command without one
	return included.ReplaceAllStringFunc(string(text), func(line string) string { return helpOf(line[1 : len(line)-2]) })
}

// describe gives a command its help.
func describe(cmd *cliv3.Command) {
	cmd.Description = helpOf(cmd.Name)
	if about := helpOf(cmd.Name + "-json"); about != "" {
		cli.Topics(cmd, map[string]string{"json": about})
	}
}
