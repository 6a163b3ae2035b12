package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"

	"mergesafe/merge/verdict"
)

//go:embed check.html
var checkPage string

// Check is the report of a check, arranged for reading.
type Check struct {
	page
	Report   *verdict.Report
	Worlds   []string
	Says     sentence
	Failed   []finding // with those not verified that count as failed
	Unsure   []finding // without those that are open
	Open     []finding // undeclared columns, those that seem to be references first
	Allowed  []finding // by the operator
	Passed   []passed
	Steps    []Step // those of failed results first
	Gaps     []gap  // by reason and database
	Reasons  []gap  // by reason
	Tables   []table
	Keys     []mapKeys
	Timeline *timeline
	Moves    []Section // which rows stay behind, and which keys change
}

// NewCheck arranges a report.
func NewCheck(r *verdict.Report) *Check {
	c := &Check{
		page:     page{Word: string(r.Verdict), Color: r.Verdict},
		Report:   r,
		Passed:   passes(r.Results),
		Gaps:     gaps(r.Results, func(g verdict.Gap) verdict.Gap { return g }),
		Reasons:  gaps(r.Results, func(g verdict.Gap) verdict.Gap { return verdict.Gap{Reason: g.Reason} }),
		Tables:   tables(r),
		Keys:     keyRanges(r),
		Timeline: newTimeline(r),
	}
	for i, s := range r.Worlds {
		if c.Worlds = append(c.Worlds, s.Name); i == 0 {
			c.Model = s.Name
		}
	}
	if r.Incomplete != "" {
		c.Word, c.Color = "INCOMPLETE", ""
	}
	c.Headline = strings.Join(c.Worlds, ", ")
	c.Title = c.Word + ": " + c.Headline
	var moves View
	moves.Add(append(stayingSections(r.Staying), rekeyedSections(r.Rekeyed)...)...)
	c.Moves = moves.Sections
	passed := c.sort()
	c.Says = c.sentence()
	c.Steps = steps(c.Failed, c.Unsure, openSteps(c.Open))
	c.Counts = []count{{len(c.Failed), "failed", "failed"}, {len(c.Unsure), "not verified", "gaps"}, {len(c.Open), "undeclared", "open"}}
	if len(c.Allowed) > 0 {
		c.Counts = append(c.Counts, count{len(c.Allowed), "allowed by the operator", "allowed"})
	}
	c.Counts = append(c.Counts, count{passed, "passed", "passed"})
	return c
}

// sort divides the results into lists, and returns how many passed.
func (c *Check) sort() (passed int) {
	codes := codes()
	for _, r := range c.Report.Results {
		list := &c.Unsure
		switch {
		case r.Verdict == verdict.Pass:
			passed++
			continue
		case r.Allowed:
			list = &c.Allowed
		case r.Verdict == verdict.Fail:
			list = &c.Failed
		case r.Open != nil:
			list = &c.Open
		}
		*list = append(*list, finding{r, codes[r.Code].Meaning, slice.Map(r.Samples, newSample)})
	}
	slice.Foremost(c.Open, func(f finding) bool { return f.Open.Likely != "" })
	return passed
}

// WriteHTML writes the report as a page. It returns the error of w.
func (c *Check) WriteHTML(w io.Writer) error { return c.write(w, checkPage, c) }

// WriteJSON writes the report as it is. It returns the error of w.
func (c *Check) WriteJSON(w io.Writer) error {
	if err := writeJSON(w, c.Report, true); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// openFew is how many open columns are declared by hand; more are by a file.
const openFew = 3

// openSteps takes out what to do about each of many open columns.
func openSteps(open []finding) []finding {
	if len(open) <= openFew {
		return open
	}
	return slice.Map(open, func(f finding) finding { f.Next = f.Next[len(f.Next)-1:]; return f })
}

// steps lists what to do about findings, each step once. What may be allowed is one step, to be pasted together.
func steps(lists ...[]finding) (all []Step) {
	add := func(text, code string) {
		i := slices.IndexFunc(all, func(s Step) bool { return s.Text == text })
		if i < 0 {
			i = len(all)
			all = append(all, Step{Text: text})
		}
		if !slices.Contains(all[i].Codes, code) {
			all[i].Codes = append(all[i].Codes, code)
		}
	}
	var flags, codes []string
	for _, r := range slices.Concat(lists...) {
		for _, text := range r.Next {
			add(text, r.Code)
		}
		if r.Allow != "" && !slices.Contains(flags, r.Allow) {
			flags, codes = append(flags, r.Allow), append(codes, r.Code)
		}
	}
	for _, code := range codes {
		add("if you checked it yourself and it does not matter: "+strings.Join(flags, " "), code)
	}
	return all
}

// gap is a reason why something was not verified, with all results that name it.
type gap struct {
	verdict.Gap
	Worlds  []string // the databases that have it
	Results []verdict.Result
}

// gaps groups gaps by key, since one missing registry concerns many checks.
// Results that the operator allows are left out.
func gaps(results []verdict.Result, key func(verdict.Gap) verdict.Gap) (all []gap) {
	places := make(map[verdict.Gap]int)
	for _, r := range results {
		if r.Allowed || r.Open != nil {
			continue
		}
		for n, g := range r.Gaps {
			i, known := places[key(g)]
			if !known {
				i = len(all)
				places[key(g)] = i
				all = append(all, gap{Gap: key(g)})
			}
			if !slices.ContainsFunc(r.Gaps[:n], func(other verdict.Gap) bool { return key(other) == key(g) }) {
				all[i].Results = append(all[i].Results, r)
			}
			if g.World != "" && !slices.Contains(all[i].Worlds, g.World) {
				all[i].Worlds = append(all[i].Worlds, g.World)
			}
		}
	}
	return all
}

// passed sums up the results of one code that passed.
type passed struct {
	Code, Meaning string
	Message       string // of the first
	Read          int64
	Tables        int
	Places        []string
}

// passes keeps the order of the results, which is the order of the codes.
func passes(results []verdict.Result) (all []passed) {
	codes := codes()
	tables := make(map[[2]string]bool)
	for _, r := range results {
		if r.Verdict != verdict.Pass {
			continue
		}
		i := slices.IndexFunc(all, func(p passed) bool { return p.Code == r.Code })
		if i < 0 {
			i = len(all)
			all = append(all, passed{Code: r.Code, Meaning: codes[r.Code].Meaning, Message: r.Message})
		}
		p := &all[i]
		p.Read += r.Read
		if place := where(r); place != "" {
			p.Places = append(p.Places, place)
		}
		if in := [2]string{r.Code, r.Table}; r.Table != "" && !tables[in] {
			tables[in] = true
			p.Tables++
		}
	}
	return all
}

// sentence is the verdict of a check in words, around the names of the databases.
type sentence struct {
	before, after string
	figures       string // in place of after, with numbers
}

// Before and After stand around the names on a page.
func (s sentence) Before() string {
	first := []rune(s.before)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

func (s sentence) After() string { return s.after + "." }

func (c *Check) sentence() sentence {
	number := func(of []finding) string { return printable.Number(int64(len(of))) }
	r := c.Report
	results, allowed := int64(len(r.Results)), int64(len(c.Allowed))
	checks := printable.Count(results, "check", "checks")
	if r.Incomplete != "" {
		s := fmt.Sprintf(": %s. %s completed", r.Incomplete, checks)
		if len(c.Failed) > 0 {
			s += ", and " + number(c.Failed) + " of them failed"
		}
		return sentence{"no verdict on merging", "", s + "; the rest is unknown"}
	}
	var s sentence
	switch r.Verdict {
	case verdict.Pass:
		s = sentence{"merging", " is safe", " is safe: " + printable.Count(results-allowed, "check", "checks") + " passed"}
	case verdict.Fail:
		s = sentence{"merging", " is not safe", fmt.Sprintf(" is not safe: %s of %s failed", number(c.Failed), checks)}
		if len(c.Unsure) > 0 {
			s.figures += fmt.Sprintf(", %s could not check everything", number(c.Unsure))
		}
		if len(c.Open) > 0 {
			s.figures += fmt.Sprintf(", %s not declared", columnsAre(c.Open))
		}
	case verdict.NotVerified:
		if len(c.Unsure) == 0 && len(c.Open) > 0 {
			s = sentence{"no conflict was found in merging", ", but some columns are not declared",
				fmt.Sprintf(", but %s", printable.Count(int64(len(c.Open)), "column must be declared", "columns must be declared"))}
			break
		}
		fallthrough
	default:
		s = sentence{"no conflict was found in merging", ", but not everything could be checked",
			fmt.Sprintf(", but %s of %s could not check everything", number(c.Unsure), checks)}
	}
	if len(c.Open) > 0 && len(c.Unsure) > 0 && r.Verdict == verdict.NotVerified {
		s.figures += fmt.Sprintf(", and %s not declared", columnsAre(c.Open))
	}
	if renamed := c.Renamed(); renamed != "" {
		s.figures += "; " + renamed
	}
	if r.Plain > 0 {
		s.figures += "; " + verdict.PlainWithKeys(r.Plain, r.PlainOpen)
	}
	if allowed > 0 {
		s.figures += "; allowed by the operator: " + verdict.AllowedCodes(r.Results)
		if r.Verdict == verdict.Pass {
			s.after = " is safe, except for results that the operator allows"
			s.figures = s.after + strings.TrimPrefix(s.figures, " is safe")
		}
	}
	return s
}

// Renamed says how many names will be changed, and for how many keys rows will be combined;
// "" if none.
func (c *Check) Renamed() string {
	var all []string
	if c.Report.Renames > 0 {
		all = append(all, printable.Count(c.Report.Renames, "name", "names")+" will be changed, by [[merge.name]]")
	}
	var keys int64
	for i := range c.Report.Results {
		keys += c.Report.Results[i].Combined
	}
	if keys > 0 {
		all = append(all, "the rows of "+printable.Count(keys, "key", "keys")+" will be combined, by [[merge.table]] or match (servermerge plan says whether the results fit)")
	}
	return strings.Join(all, "; ")
}

// columnsAre counts open columns, as the subject of a clause.
func columnsAre(open []finding) string {
	return printable.Count(int64(len(open)), "column is", "columns are")
}
