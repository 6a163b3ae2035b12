package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// The Description of a command is its help, and the only table of its flags: completions are made from it.

// general is part of the help of every tool.
const general = `Every command takes these too:

  -color auto|always|never
                    mark verdicts with colours (default auto: on a terminal,
                    unless NO_COLOR is set)
  -log text|json    how progress and errors are written to the standard error
                    (default text; json: one object a line)
  -h [NAME]         print the help: of the tool, of a command or of a topic
  -version          print the version, the commit and the version of Go
  -completion bash|zsh|fish
                    print what completes command lines in that shell, such as
                    for: source <(%[1]s -completion bash)

`

// helpOf is the help of a command.
func helpOf(root, cmd *cli.Command) string {
	text := strings.TrimSpace(cmd.Description)
	if cmd != root {
		return text
	}
	own, examples, found := strings.Cut(text, "\nExamples:\n")
	if !found {
		return text
	}
	return own + "\n" + fmt.Sprintf(general, cmd.Name) + "Examples:\n" + examples
}

// entry is a flag, a command or an exit code that a help lists.
type entry struct{ term, text string }

// described matches the first line of an entry: its term ends where two spaces are.
var described = regexp.MustCompile(`^  (\S+(?: \S+)*)(?:  +(\S.*))?$`)

// entries are the entries of a help. The lines of a text behind the first are indented by six or more.
func entries(help string) (all []entry) {
	within := false
	for line := range strings.SplitSeq(help, "\n") {
		m := described.FindStringSubmatch(line)
		within = m != nil || within && strings.HasPrefix(line, "      ")
		switch {
		case m != nil:
			all = append(all, entry{m[1], m[2]})
		case within:
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(line))
		}
	}
	return all
}

// flagText is what the help says of a flag: its argument, "" if it takes none, and its meaning.
// A help may leave that to the one of another command with the same flag.
func flagText(root, cmd *cli.Command, name string) (argument, text string) {
	for _, of := range slices.Concat([]*cli.Command{cmd, root}, root.Commands) {
		for _, e := range entries(helpOf(root, of)) {
			words := strings.Fields(e.term)
			i := slices.IndexFunc(words, func(word string) bool { return strings.TrimSuffix(word, ",") == "-"+name })
			if i >= 0 && strings.HasPrefix(e.term, "-") {
				return strings.Join(words[i+1:min(i+2, len(words))], ""), e.text
			}
		}
	}
	return "", ""
}

// commandText is what the help of a command says of one below it.
func commandText(root, cmd *cli.Command, name string) string {
	for _, e := range entries(helpOf(root, cmd)) {
		if word, _, _ := strings.Cut(e.term, " "); word == name {
			return e.text
		}
	}
	return ""
}
