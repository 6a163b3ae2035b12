package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// matrix finds out which of the databases can be merged with which.
func matrix(ctx context.Context, s settings, out, stderr io.Writer) error {
	page, err := cli.NewFile("html", s.html)
	if err != nil {
		return err
	}
	defer page.Close()
	m, checkErr := runMatrix(ctx, s, stderr)
	if m == nil {
		return noVerdict(ctx, checkErr)
	}
	if s.json {
		err = writeJSON(out, m)
	} else {
		_, err = io.WriteString(out, matrixText(m, databases.Names(s.places)))
	}
	if err = errors.Join(err, page.Write(func(w io.Writer) error { return htmlreport.WriteMatrix(w, m) })); err != nil {
		return err
	}
	if checkErr != nil {
		return noVerdict(ctx, checkErr)
	}
	return matrixCode(m)
}

func runMatrix(ctx context.Context, s settings, stderr io.Writer) (*merge.MatrixReport, error) {
	p := newProgress(stderr, cli.IsTerminal(stderr), databases.Names(s.places))
	defer p.stop()
	sources, closeAll, err := open(ctx, s, p.rests)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	s.options.Progress = p.report
	return merge.Matrix(ctx, sources, s.options)
}

// matrixCode is the exit code of the worst pair.
func matrixCode(m *merge.MatrixReport) cli.Code {
	if m.Incomplete != "" {
		return cli.Incomplete
	}
	code := cli.OK
	for _, p := range m.Pairs {
		switch p.Verdict {
		case merge.Fail:
			return cli.Conflicts
		case merge.Pass:
		default:
			code = cli.NotVerified
		}
	}
	return code
}

// matrixText shows a line and a column for every database, and then what
// stands against each pair.
func matrixText(m *merge.MatrixReport, names []string) string {
	var b strings.Builder
	count := make(map[merge.Verdict]int64)
	for _, p := range m.Pairs {
		count[p.Verdict]++
	}
	if m.Incomplete != "" {
		fmt.Fprintf(&b, "INCOMPLETE  %s; pairs without a verdict were not looked at to the end\n", printable.Text(m.Incomplete))
	}
	fmt.Fprintf(&b, "%s: %s can be merged, %s cannot, %s not verified\n\n",
		printable.Count(int64(len(m.Pairs)), "pair", "pairs"), printable.Number(count[merge.Pass]), printable.Number(count[merge.Fail]), printable.Number(count[merge.NotVerified]))

	width := 0
	for _, name := range names {
		width = max(width, cli.Width(printable.Text(name)))
	}
	line := func(number, name string, cells []string) {
		text := fmt.Sprintf("%4s  %s", number, cli.Pad(name, width))
		for _, c := range cells {
			text += fmt.Sprintf("%5s", c)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	var head []string
	for i := range names {
		head = append(head, fmt.Sprint(i+1))
	}
	line("", "", head)
	for i, name := range names {
		var cells []string
		for _, other := range names {
			cells = append(cells, cellOf(m, name, other))
		}
		line(fmt.Sprint(i+1), printable.Text(name), cells)
	}
	b.WriteString("\n   ok: can be merged   NO: cannot   ?: not verified   -: no verdict\n")

	for _, verdict := range []merge.Verdict{merge.Fail, merge.NotVerified} {
		for _, p := range m.Pairs {
			if p.Verdict == verdict {
				fmt.Fprintf(&b, "\n%s  %s into %s\n", verdict, printable.Text(p.Source), printable.Text(p.Target))
				for _, reason := range reasons(p) {
					fmt.Fprintf(&b, "  %s\n", printable.Text(reason))
				}
			}
		}
	}
	b.WriteString("\nA pair that can be merged says nothing of three together: check those that you are going to merge as a whole.\n")
	return b.String()
}

func cellOf(m *merge.MatrixReport, a, b string) string {
	if a == b {
		return "."
	}
	p := m.Pair(a, b)
	if p == nil {
		return "-"
	}
	switch p.Verdict {
	case merge.Pass:
		return "ok"
	case merge.Fail:
		return "NO"
	case merge.NotVerified:
		return "?"
	default:
		return "-"
	}
}

// reasons are the results that decided the verdict of a pair, one line for
// each code.
func reasons(p merge.Pair) []string {
	places := make(map[string][]string)
	var codes []string
	for _, r := range p.Results {
		if countsAs(r) != p.Verdict {
			continue
		}
		if !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
		if where := strings.TrimSpace(r.Table + " " + r.Subject); where != "" {
			if r.Count > 0 {
				where += " (" + printable.Number(r.Count) + ")"
			}
			places[r.Code] = append(places[r.Code], where)
		}
	}
	const most = 4
	for i, code := range codes {
		where := places[code]
		if n := len(where); n > most {
			where = append(where[:most:most], fmt.Sprintf("and %d more", n-most))
		}
		if len(where) > 0 {
			codes[i] += ": " + strings.Join(where, ", ")
		}
	}
	return codes
}
