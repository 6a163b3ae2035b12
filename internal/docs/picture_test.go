package docs

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"mergesafe/internal/servertest"
)

var update = flag.Bool("update", false, "draw docs/merge.svg anew")

// shown are the commands of docs/merge.svg, and which lines of their output it has, in their order.
var shown = []struct {
	command string
	lines   []string
}{
	{"mergecheck s1 s2", []string{`PASS  merging s1 and s2 is safe`}},
	{"servermerge plan -into new -o plan.json s1 s2", []string{
		`READY  .*`, `New keys:`, `  space .*`, `.* s2 +250 .*chars.*`, `References to them`, `  refers .*`, `  items\.owner .*`, `  mail\.sender .*`,
		`New values: .*`, `  world .*`, `.*Aria\.s2.*`,
	}},
	{"servermerge apply plan.json", []string{`DONE  .* with 1 rename`}},
	{"servermerge open plan.json", []string{
		`DONE  [^;]*`, `  PASS +mapped back to old keys.*`, `  PASS +references .*`, `Point the game server .*`,
	}},
	{"servermerge whois new chars 1007", []string{`chars 7 of s2 became 1007`}},
	{"servermerge undo plan.json", []string{`DONE  [^;]*`}},
}

// The picture in README.md is a merge as it goes. -update draws it anew.
func TestPicture(t *testing.T) {
	servertest.NotShort(t)
	n := night{tools(t), t.TempDir()}
	config := "[merge]\nrules = [\"game.toml\"]\n"
	for _, name := range []string{"s1", "s2", "new"} {
		config += fmt.Sprintf("[[source]]\nname = %q\ndsn = %q\n", name, "sqlite:"+name+".db")
	}
	n.write(t, "config.toml", config)
	n.write(t, "game.toml", `
[merge]
rekey = true
[[merge.name]]
at = "chars.name"
template = "{name}.{source}"
[check]
plain = ["chars.level", "mail.kind", "mail.body"]
[[check.reference]]
to = "chars.guid"
at = ["mail.sender"]
when = { column = "kind", is = [0] }
others = "plain"
`)
	for i, world := range []string{"s1", "s2"} {
		heroes := 300 - 50*i
		n.exec(t, world, `CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(12) NOT NULL UNIQUE, level INTEGER);
			CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER REFERENCES chars (guid));
			CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER, sender INTEGER, body TEXT)`)
		numbers := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", heroes)
		n.exec(t, world, "INSERT INTO chars "+numbers+"SELECT i, iif(i = 7, 'Aria', ? || i), i % 60 FROM n", world)
		n.exec(t, world, "INSERT INTO items (owner) "+numbers+"SELECT i * ? % ? + 1 FROM n", 7+4*i, heroes)
		n.exec(t, world, "INSERT INTO mail "+numbers+"SELECT i, i % 3, i, ? || i FROM n", "from "+world)
	}

	var lines []string
	for _, c := range shown {
		out, code := n.run(t, c.command)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s", c.command, code, out)
		}
		lines = append(lines, "$ "+c.command)
		for _, line := range c.lines {
			at := regexp.MustCompile("(?m)^" + line).FindStringIndex(out)
			if at == nil {
				t.Fatalf("%s does not print %s, or not in this order:\n%s", c.command, line, out)
			}
			lines = append(lines, strings.TrimRight(out[at[0]:at[1]], " "))
			out = out[at[1]:]
		}
	}
	file := filepath.Join(root, "docs", "merge.svg")
	drawn := draw(lines)
	if *update {
		if err := os.WriteFile(file, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is := read(t, "docs/merge.svg"); is != drawn {
		t.Errorf("docs/merge.svg is not of this merge (-update draws it anew):\n%s", strings.Join(lines, "\n"))
	}
}

const columns = 96 // of the terminal in the picture

// draw makes the picture of a terminal. Longer lines go on in the next, as they do there.
func draw(lines []string) string {
	var b strings.Builder
	y := 30
	row := func(class, text string) {
		verdict := regexp.MustCompile(`^ *(PASS|READY|DONE)`).FindString(text)
		fmt.Fprintf(&b, `<text x="16" y="%d"%s>`, y, class)
		if verdict != "" {
			fmt.Fprintf(&b, `<tspan class="good">%s</tspan>`, verdict)
		}
		b.WriteString(html.EscapeString(text[len(verdict):]) + "</text>\n")
		y += 19
	}
	for i, line := range lines {
		class := ""
		if strings.HasPrefix(line, "$ ") {
			class = ` class="command"`
			if i > 0 {
				y += 8
			}
		}
		for utf8.RuneCountInString(line) > columns {
			cut := strings.LastIndex(string([]rune(line)[:columns]), " ")
			row(class, line[:cut])
			line = "      " + line[cut+1:]
		}
		row(class, line)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 790 %[1]d" width="790" height="%[1]d" role="img">
<title>A whole merge in a terminal: check, plan, apply, open, whois, undo</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d1d7e0; white-space: pre }
.command { fill: #ffffff; font-weight: bold } .good { fill: #3fb950; font-weight: bold }
</style>
<rect width="790" height="%[1]d" rx="6" fill="#151b23"/>
%[2]s</svg>
`, y-4, &b)
}
