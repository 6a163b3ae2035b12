package merge

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// TextOptions are what may be chosen about the text of a report. The zero
// value is plain text of 100 columns.
type TextOptions struct {
	Width int  // columns of the terminal; 0 is 100, and less than 60 is 60
	Color bool // mark the verdicts with ANSI colours
}

// Limits of the text, so that it stays readable. The JSON form has everything.
const (
	textFailures  = 12 // failed results
	textSampled   = 3  // of these, the ones that are shown with samples
	textSamples   = 2  // of one result
	textServers   = 4  // servers of a source, if there are no more than textSources
	textSources   = 4
	textReasons   = 6 // why something is not verified
	textNext      = 8 // next steps
	textProposals = 6
	textCell      = 24 // columns of one value
)

// inJSON is where all that these limits leave out can be found.
const inJSON = "in the JSON form of this report"

// WriteText writes the report for people: the verdict, the sources, what
// failed, the gravest with samples side by side, what is not verified and why,
// what passed, what to do next, and config to paste. Characters that could
// disturb a terminal are escaped. It returns the error of w.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	if opts.Width == 0 {
		opts.Width = 100
	}
	t := &text{width: max(opts.Width, 60), color: opts.Color}
	t.verdict(r)
	t.sources(r)
	t.failures(r)
	t.gaps(r)
	t.allowed(r)
	t.passed(r)
	t.next(r)
	t.proposals(r)
	_, err := w.Write(t.Bytes())
	return err
}

// text is a report being written.
type text struct {
	bytes.Buffer
	width int
	color bool
}

// line writes one line of plain words.
func (t *text) line(indent int, s string) {
	t.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+printable.Text(s), " ") + "\n")
}

// wrapped writes words over as many lines as they need; first stands at the
// beginning of the first one.
func (t *text) wrapped(indent int, first, s string) {
	prefix := strings.Repeat(" ", indent) + printable.Text(first)
	hang := strings.Repeat(" ", cells(prefix))
	line := prefix
	for i, word := range strings.Fields(printable.Text(s)) {
		switch {
		case i == 0:
		case cells(line)+1+cells(word) > t.width:
			t.WriteString(line + "\n")
			line = hang
		default:
			line += " "
		}
		line += word
	}
	t.WriteString(line + "\n")
}

// mark writes a verdict, in colour if that is wanted.
func (t *text) mark(v Verdict) string {
	if !t.color {
		return string(v)
	}
	color := map[Verdict]string{Pass: "32", NotVerified: "33", Fail: "31"}[v]
	return "\x1b[1;" + color + "m" + string(v) + "\x1b[0m"
}

func (t *text) heading(v Verdict, rest string) {
	t.WriteString("\n" + t.mark(v) + "  " + printable.Text(rest) + "\n")
}

func (t *text) verdict(r *Report) {
	var names []string
	for _, s := range r.Sources {
		if s.Name != r.Target {
			names = append(names, s.Name)
		}
	}
	into := "merging " + enumerated(names) + " into " + r.Target
	var failed, gaps, allowed int64
	for i := range r.Results {
		switch result := &r.Results[i]; {
		case result.CountsAs == Pass:
			allowed++
		case result.counts() == Fail:
			failed++
		case len(result.Gaps) > 0:
			gaps++
		}
	}
	checks := printable.Count(int64(len(r.Results)), "check", "checks")
	if len(r.Only) > 0 {
		into += ", as far as it was checked again"
	}
	if r.Incomplete != "" {
		s := fmt.Sprintf("no verdict on %s: %s. %s came to an end", into, r.Incomplete, checks)
		if failed > 0 {
			s += ", and " + printable.Number(failed) + " of them failed"
		}
		t.wrapped(0, "INCOMPLETE  ", s+"; the rest is unknown")
		return
	}
	var s string
	switch r.Verdict {
	case Pass:
		s = fmt.Sprintf("nothing stands against %s: %s passed", into, printable.Count(int64(len(r.Results))-allowed, "check", "checks"))
	case Fail:
		s = fmt.Sprintf("%s is not safe: %s of %s failed", into, printable.Number(failed), checks)
		if gaps > 0 {
			s += fmt.Sprintf(", %s could not look at everything", printable.Number(gaps))
		}
	default:
		s = fmt.Sprintf("nothing was found against %s, but %s of %s could not look at everything", into, printable.Number(gaps), checks)
	}
	if allowed > 0 {
		s += "; " + printable.Count(allowed, "result is", "results are") + " allowed by the operator"
	}
	// Wrap before marking, for colours have no width.
	start := t.Len()
	t.wrapped(0, string(r.Verdict)+"  ", s)
	rest := strings.TrimPrefix(string(t.Bytes()[start:]), string(r.Verdict))
	t.Truncate(start)
	t.WriteString(t.mark(r.Verdict) + rest)
}

func (t *text) sources(r *Report) {
	t.WriteString("\n")
	var rows [][]string
	for _, s := range r.Sources {
		role := ""
		if s.Name == r.Target {
			role = "target"
		}
		var n int64
		for _, table := range s.Tables {
			n += table.Rows
		}
		rows = append(rows, []string{s.Name, role, s.Engine, printable.Count(n, "row", "rows"), printable.Count(int64(len(s.Tables)), "table", "tables")})
		var servers int
		for i, server := range s.Servers {
			if i < textServers && len(r.Sources) <= textSources {
				rows = append(rows, []string{"", "", server.describe(), "", ""})
			} else {
				servers++
			}
		}
		if servers > 0 {
			rows = append(rows, []string{"", "", "and " + printable.Count(int64(servers), "more server", "more servers"), "", ""})
		}
	}
	widths := make([]int, 5)
	for _, row := range rows {
		for i, cell := range row {
			if row[0] != "" {
				widths[i] = max(widths[i], cells(printable.Text(cell)))
			}
		}
	}
	for _, row := range rows {
		if row[0] == "" {
			t.line(6, row[2])
			continue
		}
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(padded(printable.Text(cell), widths[i]) + "  ")
		}
		t.line(2, b.String())
	}
	t.wrapped(2, "", "read from "+stamp(r.Started)+" to "+stamp(r.Finished))
}

func (s ServerSummary) describe() string {
	text := fmt.Sprintf("server %d", s.Server)
	if s.Name != "" {
		text += " " + s.Name
	}
	switch {
	case !s.Listed:
		text += ", not in the registry"
	case !s.Own:
		text += ", merged in"
	}
	text += ": " + printable.Count(s.IDs, "ID", "IDs")
	if s.IDs > 0 {
		text += " from " + stamp(s.Oldest) + " to " + stamp(s.Newest)
	}
	return text
}

func (r Result) title() string { return strings.TrimRight(r.Code+"  "+r.Table+"  "+r.Subject, " ") }

func (t *text) failures(r *Report) {
	var failed []Result
	var alike []string
	for _, result := range r.Results {
		switch {
		case result.counts() != Fail:
		case result.Alike:
			if !slices.Contains(alike, result.Table) {
				alike = append(alike, result.Table)
			}
		default:
			failed = append(failed, result)
		}
	}
	if len(failed)+len(alike) == 0 {
		return
	}
	t.heading(Fail, "the gravest first")
	if n := int64(len(alike)); n > 0 {
		defer func() {
			t.wrapped(2, "", printable.Count(n, "table has", "tables have")+" the same keys in every database, and rows that look alike; the game's own data? "+
				strings.Join(alike, ", "))
		}()
	}
	for i, result := range failed {
		if i == textFailures {
			t.line(2, "and "+printable.Number(int64(len(failed)-i))+" more "+inJSON)
			break
		}
		message := result.Message
		if result.Verdict == NotVerified {
			message = "not verified, which counts as failed: " + result.Gaps[0].Reason
		}
		samples := result.Samples[:min(textSamples, len(result.Samples))]
		if i >= textSampled {
			samples = nil
		}
		if n := int64(len(samples)); n > 0 {
			message += fmt.Sprintf(" (%s of %s shown)", printable.Number(n), printable.Number(result.Count))
		}
		t.wrapped(2, "", result.title()+": "+message)
		t.samples(samples)
	}
}

// allowed writes what does not count because the operator said so.
func (t *text) allowed(r *Report) {
	var allowed []string
	for _, result := range r.Results {
		if result.CountsAs == Pass {
			what := result.Message
			if result.Verdict == NotVerified {
				what = result.Gaps[0].Reason
			}
			allowed = append(allowed, string(result.Verdict)+"  "+result.title()+": "+what)
		}
	}
	if len(allowed) == 0 {
		return
	}
	t.WriteString("\nALLOWED  by the operator, and so not counted\n")
	for i, line := range allowed {
		if i == textFailures {
			t.line(2, "and "+printable.Number(int64(len(allowed)-i))+" more "+inJSON)
			break
		}
		t.wrapped(2, "", line)
	}
}

// samples writes rows one below the other, so that what differs stands out.
func (t *text) samples(samples []Sample) {
	if len(samples) == 0 {
		return
	}
	header := []string{"source"}
	for _, f := range samples[0].Rows[0].Fields {
		header = append(header, f.Column)
	}
	lines := [][]string{header}
	for i, s := range samples {
		if i > 0 {
			lines = append(lines, nil)
		}
		for _, row := range s.Rows {
			lines = append(lines, row.cells(header))
		}
		if s.Omitted > 0 {
			lines = append(lines, []string{"", "and " + printable.Count(s.Omitted, "more row", "more rows")})
		}
	}
	t.table(6, lines)
}

// cells puts the values of a row below their columns. A row of another table
// has columns of its own, which are named.
func (r SampleRow) cells(header []string) []string {
	cells := []string{r.Source}
	if r.Table != "" {
		cells[0] += " " + r.Table
		for _, f := range r.Fields {
			cells = append(cells, f.Column+"="+f.text())
		}
		return cells
	}
	for _, column := range header[1:] {
		i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Column == column })
		if i < 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, r.Fields[i].text())
		}
	}
	return cells
}

func (f Field) text() string {
	switch {
	case f.Null:
		return "NULL"
	case f.Value == "":
		return `""`
	default:
		return f.Value
	}
}

// table writes lines in aligned columns, as many as there is room for.
func (t *text) table(indent int, lines [][]string) {
	var widths []int
	for _, line := range lines {
		for i, cell := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], min(cells(printable.Text(cell)), textCell))
		}
	}
	const room = len("(+99)") // to say how many do not fit
	fit, used := 0, indent
	for fit < len(widths) && (fit < 2 || used+widths[fit]+2+room <= t.width) {
		used += widths[fit] + 2
		fit++
	}
	for n, line := range lines {
		var b strings.Builder
		for i, cell := range line[:min(fit, len(line))] {
			b.WriteString(padded(shortened(printable.Text(cell), textCell), widths[i]) + "  ")
		}
		if n == 0 && fit < len(line) {
			b.WriteString(fmt.Sprintf("(+%d)", len(line)-fit))
		}
		t.line(indent, b.String())
	}
}

// gaps writes what is not verified, by reason: one missing registry concerns
// many checks.
func (t *text) gaps(r *Report) {
	places, sources := make(map[string][]Result), make(map[string][]string)
	var order []string
	for _, result := range r.Results {
		if result.CountsAs == Pass {
			continue
		}
		for i, g := range result.Gaps {
			if places[g.Reason] == nil {
				order = append(order, g.Reason)
			}
			if !slices.ContainsFunc(result.Gaps[:i], func(other Gap) bool { return other.Reason == g.Reason }) {
				places[g.Reason] = append(places[g.Reason], result)
			}
			if g.Source != "" && !slices.Contains(sources[g.Reason], g.Source) {
				sources[g.Reason] = append(sources[g.Reason], g.Source)
			}
		}
	}
	if len(order) == 0 {
		return
	}
	t.heading(NotVerified, printable.Count(int64(len(order)), "reason", "reasons"))
	for i, reason := range order {
		if i == textReasons {
			t.line(2, "and "+printable.Count(int64(len(order)-i), "more reason ", "more reasons ")+inJSON)
			break
		}
		first := reason
		if of := sources[reason]; len(of) > 0 {
			first = enumerated(of) + ": " + reason
		}
		t.wrapped(2, "", first)
		t.wrapped(6, "", byCode(places[reason]))
	}
}

// byCode names results briefly: "server-unlisted (5 tables), world-cloned".
func byCode(results []Result) string {
	tables := make(map[string][]string)
	var codes []string
	for _, r := range results {
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
		if name := strings.TrimSpace(r.Table + " " + r.Subject); name != "" {
			tables[r.Code] = append(tables[r.Code], name)
		}
	}
	for i, code := range codes {
		switch n := tables[code]; {
		case len(n) > 3:
			codes[i] += fmt.Sprintf(" (%d places)", len(n))
		case len(n) > 0:
			codes[i] += " (" + strings.Join(n, ", ") + ")"
		}
	}
	return strings.Join(codes, ", ")
}

// passed writes one line for every code of which something passed.
func (t *text) passed(r *Report) {
	type total struct {
		places int64
		tables map[string]bool
		read   int64
	}
	totals := make(map[string]*total)
	for _, result := range r.Results {
		if result.Verdict != Pass {
			continue
		}
		n := totals[result.Code]
		if n == nil {
			n = &total{tables: make(map[string]bool)}
			totals[result.Code] = n
		}
		n.places++
		n.read += result.Read
		if result.Table != "" {
			n.tables[result.Table] = true
		}
	}
	if len(totals) == 0 {
		return
	}
	t.heading(Pass, "looked at in full")
	ranks := ranks()
	codes := slices.SortedFunc(maps.Keys(totals), func(a, b string) int { return ranks[a] - ranks[b] })
	var entries []string
	for _, code := range codes {
		n := totals[code]
		what := ""
		if len(n.tables) > 0 {
			what = printable.Count(int64(len(n.tables)), "table", "tables") + ", "
		}
		entries = append(entries, padded(code, 20)+what+printable.Number(n.read)+" read")
	}
	t.columns(2, entries)
}

// columns writes short entries in as many columns as there is room for, to be
// read downwards.
func (t *text) columns(indent int, entries []string) {
	width := 0
	for _, e := range entries {
		width = max(width, cells(e)+3)
	}
	n := max(1, (t.width-indent)/width)
	height := (len(entries) + n - 1) / n
	for row := range height {
		line := ""
		for i := row; i < len(entries); i += height {
			line += padded(entries[i], width)
		}
		t.line(indent, line)
	}
}

// next writes what to do, the failures first and every step once, with the
// codes that it is for.
func (t *text) next(r *Report) {
	codes := make(map[string][]string)
	var steps []string
	for _, verdict := range []Verdict{Fail, NotVerified} {
		for _, result := range r.Results {
			if result.counts() != verdict {
				continue
			}
			for _, step := range result.Next {
				if codes[step] == nil {
					steps = append(steps, step)
				}
				if !slices.Contains(codes[step], result.Code) {
					codes[step] = append(codes[step], result.Code)
				}
			}
		}
	}
	if len(steps) == 0 {
		return
	}
	t.WriteString("\nNext steps\n")
	for i, step := range steps {
		if i == textNext {
			t.line(2, "and "+printable.Number(int64(len(steps)-i))+" more "+inJSON)
			break
		}
		t.wrapped(2, fmt.Sprintf("%d. ", i+1), strings.Join(codes[step], ", ")+": "+step)
	}
}

// proposals writes config to paste.
func (t *text) proposals(r *Report) {
	if len(r.Proposals) == 0 {
		return
	}
	t.WriteString("\nNot declared in the schema, but likely: judge, and paste into config.toml to have it checked\n")
	for i, p := range r.Proposals {
		t.WriteString("\n")
		if i == textProposals {
			t.line(2, "and "+printable.Number(int64(len(r.Proposals)-i))+" more "+inJSON)
			break
		}
		for line := range strings.Lines(p.TOML()) {
			t.line(2, strings.TrimSuffix(line, "\n"))
		}
	}
}
