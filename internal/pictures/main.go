// Pictures draws the pictures of the documents: the layout of an ID, and the way
// of a merge. They follow the reader's light or dark mode.
//
//	go run ./internal/pictures docs
package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"mergesafe/gameid"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures FOLDER")
		os.Exit(2)
	}
	for name, text := range pictures() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "pictures:", err)
			os.Exit(2)
		}
	}
}

func pictures() map[string]string {
	return map[string]string{"id.svg": layout(), "merge.svg": merge()}
}

// picture is what was drawn so far.
type picture struct{ strings.Builder }

func (p *picture) text(class string, x, y int, text string) {
	fmt.Fprintf(p, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, html.EscapeString(text))
}

func (p *picture) box(class string, x, y, width, height int) {
	fmt.Fprintf(p, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", class, x, y, width, height)
}

// arrow leads along points.
func (p *picture) arrow(points string) {
	fmt.Fprintf(p, "<polyline class=\"arrow\" points=\"%s\" marker-end=\"url(#head)\"/>\n", points)
}

// done is the whole file. Its title is what a screen reader says.
func (p *picture) done(width, height int, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">
<title>%s</title>
<style>
text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.code { font: 16px ui-monospace, monospace }
.small { font-size: 12px; fill: #59636e }
rect { stroke: #59636e; fill: none }
.time { fill: #ddf4ff } .server { fill: #dafbe1 } .sequence { fill: #fff8c5 } .step { fill: #f6f8fa }
.arrow { fill: none; stroke: #59636e; stroke-width: 1.5 } #head path { fill: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 }
rect { stroke: #9198a1 }
.time { fill: #0c2d6b } .server { fill: #033a16 } .sequence { fill: #4b2900 } .step { fill: #212830 }
.arrow { stroke: #9198a1 } #head path { fill: #9198a1 }
}
</style>
<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0 0 L8 4 L0 8 Z"/></marker></defs>
%s</svg>
`, width, height, width, height, html.EscapeString(title), p.String())
}

// layout shows an ID by its digits, each field as wide as it is.
func layout() string {
	const digit, left, top = 30, 20, 40
	id := gameid.MustParse("00ddceac5bd00007003f")
	var p picture
	x := left
	for _, f := range []struct {
		class, name, value string
		bits               int
	}{
		{"time", "time", id.Time().Format("2006-01-02T15:04:05.000Z"), gameid.EraBits + gameid.TimeBits},
		{"server", "server", fmt.Sprint(id.Server()), gameid.ServerBits},
		{"sequence", "sequence", fmt.Sprint(id.Sequence()), gameid.SequenceBits},
	} {
		digits := f.bits / 4
		p.box(f.class, x, top, digits*digit, 40)
		first := (x - left) / digit
		for i, d := range id.String()[first : first+digits] {
			p.text("code", x+i*digit+digit/2, top+26, string(d))
		}
		middle := x + digits*digit/2
		p.text("name", middle, top-14, f.name)
		p.text("small", middle, top+60, fmt.Sprintf("%d bits", f.bits))
		p.text("small", middle, top+78, f.value)
		x += digits * digit
	}
	return p.done(x+left, top+100, fmt.Sprintf("An ID is %d bits, %d hexadecimal digits: time, server, sequence", 8*gameid.Size, gameid.TextSize))
}

// merge shows the steps from worlds to a merged one, and the way back.
func merge() string {
	const width, gap, top, height = 108, 32, 30, 56
	var p picture
	for i, step := range []struct{ name, does string }{
		{"worlds", "as they are"},
		{"check", "reads only"},
		{"plan", "reads only"},
		{"apply", "copies; resumes"},
		{"verify", "compares all"},
	} {
		x := 20 + i*(width+gap)
		if step.name == "worlds" {
			p.box("step", x+8, top-8, width, height) // more than one
		} else {
			p.arrow(fmt.Sprintf("%d,%d %d,%d", x-gap+8, top+height/2, x-2, top+height/2))
		}
		p.box("step", x, top, width, height)
		p.text("name", x+width/2, top+24, step.name)
		p.text("small", x+width/2, top+43, step.does)
	}
	right, below := 20+4*(width+gap)+width/2, top+height+34
	p.arrow(fmt.Sprintf("%d,%d %d,%d %d,%d %d,%d", right, top+height, right, below, 20+width/2, below, 20+width/2, top+height+2))
	p.text("name", (right+20+width/2)/2, below+18, "undo: removes exactly the rows that came")
	return p.done(20+5*width+4*gap+20, below+34, "A merge: worlds, check, plan, apply, verify; undo leads back to the worlds as they were")
}
