package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// shells are the scripts of -completion. Each asks the program for what may stand where the
// cursor is, and offers files if the program has nothing to say: see [completions].
var shells = map[string]string{
	"bash": `_%[1]s() {
	local IFS=$'\n'
	COMPREPLY=($("$1" -complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _%[1]s %[1]s
`,
	"zsh": `#compdef %[1]s
_%[1]s() {
	local line
	local -a found
	for line in "${(@f)$("${words[1]}" -complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && found+=("${${line%%%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	if (( $#found )); then
		_describe -o %[1]s found
	else
		_files
	fi
}
compdef _%[1]s %[1]s
`,
	"fish": `complete -c %[1]s -a '(%[1]s -complete (commandline -opc)[2..] (commandline -ct | string collect --allow-empty) 2>/dev/null)'
`,
}

func completionScript(name, shell string) (string, error) {
	script, ok := shells[shell]
	if !ok {
		return "", Usage("-completion %q: want bash, zsh or fish", shell)
	}
	return fmt.Sprintf(script, name), nil
}

// Arguments says what completions offer as arguments of all commands of a tool.
func Arguments(root *cli.Command, names func() []string) { ownOf(root).arguments = names }

// completions are what may stand in place of the last of the words, one on a line, each
// with a tab and what it means.
func completions(root *cli.Command, words []string) string {
	if len(words) == 0 {
		words = []string{""}
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // as bash divides "-flag=value"
	last := words[len(words)-1]
	cmd, arguments, wants := root, 0, "" // wants is the argument that the flag before takes
	for _, word := range words[:len(words)-1] {
		switch {
		case wants != "":
			wants = ""
		case strings.HasPrefix(word, "-"):
			if wants, _ = flagText(root, cmd, strings.TrimLeft(word, "-")); strings.HasPrefix(wants, "[") {
				wants = "" // not that of -h [NAME]
			}
		case arguments == 0 && cmd.Command(word) != nil:
			cmd = cmd.Command(word)
		default:
			arguments++
		}
	}
	var b strings.Builder
	add := func(word, text string) {
		if strings.HasPrefix(word, last) {
			fmt.Fprintf(&b, "%s\t%s\n", word, text)
		}
	}
	switch {
	case wants == strings.ToLower(wants) && wants != "":
		for choice := range strings.SplitSeq(wants, "|") {
			add(choice, "")
		}
	case wants != "":
	case strings.HasPrefix(last, "-"):
		for _, name := range flagNames(root, cmd) {
			_, text := flagText(root, cmd, name)
			add("-"+name, text)
		}
	default:
		if arguments == 0 {
			for _, sub := range cmd.Commands {
				add(sub.Name, commandText(root, cmd, sub.Name))
			}
		}
		if names := ownOf(root).arguments; names != nil && len(cmd.Commands) == 0 {
			for _, name := range names() {
				add(name, "")
			}
		}
	}
	return b.String()
}

// flagNames are the flags that a command takes.
func flagNames(root, cmd *cli.Command) (names []string) {
	for _, flag := range slices.Concat(cmd.Flags, root.Flags) {
		if isHidden(flag) {
			continue
		}
		if name := flag.Names()[0]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	names = append(names, "h")
	if root == cmd {
		names = append(names, "version", "completion")
	}
	return names
}

func isHidden(flag cli.Flag) bool {
	f, ok := flag.(cli.VisibleFlag)
	return ok && !f.IsVisible()
}
