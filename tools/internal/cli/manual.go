package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// The Description of a command is its help, and the only table of its flags: completions and
// manual pages are made from it.

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
  -man              print the manual page, such as for: %[1]s -man | man -l -

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

// entry is one line of a list in a help: a flag, a command or an exit code.
type entry struct{ term, text string }

// described matches the first line of an entry: its term ends where two spaces are.
var described = regexp.MustCompile(`^  (\S+(?: \S+)*)(?:  +(\S.*))?$`)

// entries are the entries of a list, whose lines these are; ok tells whether they are one.
func entries(lines []string) (all []entry, ok bool) {
	for _, line := range lines {
		if m := described.FindStringSubmatch(line); m != nil {
			all = append(all, entry{m[1], m[2]})
		} else if len(all) > 0 && strings.HasPrefix(line, "      ") {
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(line))
		} else {
			return nil, false
		}
	}
	return all, !slices.ContainsFunc(all, func(e entry) bool { return e.text == "" })
}

// blocks divides a text into what is between empty lines.
func blocks(text string) (all [][]string) {
	for _, block := range regexp.MustCompile(`\n\n+`).Split(strings.Trim(text, "\n"), -1) {
		all = append(all, strings.Split(block, "\n"))
	}
	return all
}

// headed takes the heading off a block that has one.
func headed(block []string) (heading string, rest []string) {
	first := block[0]
	if strings.HasSuffix(first, ":") && !strings.HasPrefix(first, " ") && (len(block) == 1 || strings.HasPrefix(block[1], "  ")) {
		return strings.TrimSuffix(first, ":"), block[1:]
	}
	return "", block
}

// flagText is what the help says of a flag: its argument, "" if it takes none, and its meaning.
// A help may leave that to the one of another command with the same flag.
func flagText(root, cmd *cli.Command, name string) (argument, text string) {
	for _, of := range slices.Concat([]*cli.Command{cmd, root}, root.Commands) {
		for _, block := range blocks(helpOf(root, of)) {
			_, lines := headed(block)
			list, _ := entries(lines)
			for _, e := range list {
				words := strings.Fields(e.term)
				for i, word := range words {
					if strings.TrimSuffix(word, ",") == "-"+name {
						return strings.Join(words[i+1:min(i+2, len(words))], ""), e.text
					}
				}
			}
		}
	}
	return "", ""
}

// manual is the manual page of a tool, in the language of man.
func manual(root *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", strings.ToUpper(root.Name), quoted(root.Version))
	usage, rest := usageOf(helpOf(root, root))
	sentence, _, _ := strings.Cut(strings.Join(blocks(rest)[0], " "), ". ")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", root.Name, escaped(strings.TrimSuffix(sentence, ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n")
	writeVerbatim(&b, usage)
	b.WriteString(".SH DESCRIPTION\n")
	writeBlocks(&b, rest)
	writeCommands(&b, root, root.Name, root.Commands)
	for _, name := range slices.Sorted(maps.Keys(topicsOf(root))) {
		fmt.Fprintf(&b, ".SH %s\n", quoted(strings.ToUpper(root.Name+" -h "+name)))
		writeVerbatim(&b, strings.Split(strings.Trim(topicsOf(root)[name], "\n"), "\n"))
	}
	return b.String()
}

func writeCommands(b *strings.Builder, root *cli.Command, of string, commands []*cli.Command) {
	for _, cmd := range commands {
		usage, rest := usageOf(helpOf(root, cmd))
		fmt.Fprintf(b, ".SH %s\n", quoted(strings.ToUpper(of+" "+cmd.Name)))
		writeVerbatim(b, usage)
		writeBlocks(b, rest)
		writeCommands(b, root, of+" "+cmd.Name, cmd.Commands)
	}
}

// usageOf takes the usage off a help.
func usageOf(help string) (usage []string, rest string) {
	first := blocks(help)[0]
	if !strings.HasPrefix(first[0], "Usage: ") {
		return nil, help
	}
	for _, line := range first {
		usage = append(usage, strings.TrimPrefix(strings.TrimPrefix(line, "Usage: "), "       "))
	}
	return usage, strings.TrimPrefix(help, strings.Join(first, "\n"))
}

func writeBlocks(b *strings.Builder, text string) {
	for _, block := range blocks(text) {
		heading, lines := headed(block)
		if heading != "" {
			fmt.Fprintf(b, ".SS %s\n", quoted(heading))
		}
		list, ok := entries(lines)
		switch {
		case len(lines) == 0:
		case ok:
			for _, e := range list {
				fmt.Fprintf(b, ".TP\n.B %s\n%s\n", escaped(e.term), escaped(e.text))
			}
		case strings.HasPrefix(lines[0], " "):
			writeVerbatim(b, lines)
		default:
			b.WriteString(".PP\n")
			for _, line := range lines {
				b.WriteString(escaped(strings.TrimSpace(line)) + "\n")
			}
		}
	}
}

// writeVerbatim writes lines that stay as they are.
func writeVerbatim(b *strings.Builder, lines []string) {
	b.WriteString(".PP\n.nf\n")
	for _, line := range lines {
		b.WriteString(escaped(line) + "\n")
	}
	b.WriteString(".fi\n")
}

// escaped is a line in which nothing means anything to man.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "'", `\(aq`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}

func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }
