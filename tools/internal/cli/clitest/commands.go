package clitest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

var update = flag.Bool("update", false, "write the commands of the tool into docs/commands.md")

// Commands makes sure that docs/commands.md lists the commands of a tool with their flags, and no others, and that
// their help has all that [cli.CheckHelp] looks for.
func Commands(t *testing.T, root *cliv3.Command) {
	t.Helper()
	if err := cli.CheckHelp(root); err != nil {
		t.Error(err)
	}
	const file = "../../docs/commands.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	title := "\n## " + root.Name + "\n"
	before, rest, found := strings.Cut(string(text), title)
	if !found {
		t.Fatalf("docs/commands.md has no section on %s", root.Name)
	}
	section, after, more := strings.Cut(rest, "\n## ")
	var b strings.Builder
	b.WriteString("\n")
	list(&b, root, root.Name)
	switch diff := cmp.Diff(strings.TrimSpace(section), strings.TrimSpace(b.String())); {
	case diff == "":
		return
	case !*update:
		t.Fatalf("docs/commands.md (-is +should be; -update writes it):\n%s", diff)
	}
	whole := before + title + b.String()
	if more {
		whole += "\n## " + after
	}
	if err := os.WriteFile(file, []byte(whole), 0o644); err != nil {
		t.Error(err)
	}
}

// list writes a line for each command that does something.
func list(b *strings.Builder, c *cliv3.Command, name string) {
	if c.Action != nil {
		var flags []string
		for _, f := range c.Flags {
			if visible, is := f.(cliv3.VisibleFlag); is && visible.IsVisible() {
				flags = append(flags, "`-"+f.Names()[0]+"`")
			}
		}
		b.WriteString("* **" + name + "** " + strings.Join(flags, " ") + "\n")
	}
	for _, sub := range c.Commands {
		list(b, sub, name+" "+sub.Name)
	}
}
