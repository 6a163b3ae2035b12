package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/keys"
)

// WriteWhois says where a key came from, or its key in the merged database if world names the
// one that had it. It returns the error of w.
func WriteWhois(w io.Writer, o TextOptions, made, world, table string, key keys.Integer, way []merge.Origin) error {
	t := newText(o)
	place := table + " " + key.String()
	switch {
	case len(way) == 0 && world == "":
		t.line(0, fmt.Sprintf("No record says that %s of %s came by a merge. Rows of a first world keep their keys, and have none.", place, made))
	case len(way) == 0:
		t.line(0, fmt.Sprintf("%s of %s was not copied to %s by a merge.", place, world, made))
	}
	for _, o := range way {
		line := fmt.Sprintf("%s %s of %s became %s", o.Table, o.Old, o.Source, o.New)
		if o.Matched {
			line += ", which is the same thing"
		}
		t.line(0, line+"  (merge "+o.Merge+")")
	}
	return t.to(w)
}

// WritePlanned says that a row stayed behind, or what its key became, merge by merge.
func WritePlanned(w io.Writer, o TextOptions, steps []merge.Planned) error {
	t := newText(o)
	for i, s := range steps {
		became := "stayed behind: " + s.Stays
		switch {
		case s.Stays != "":
		case s.New == s.Old:
			became = "kept this key"
		default:
			became = "became " + s.New
		}
		if s.Stays == "" && i == 0 {
			became += fmt.Sprintf(", if %s had it: for such keys, only the plan is recorded", s.Source)
		}
		t.line(0, fmt.Sprintf("%s %s of %s %s  (merge %s)", s.Table, s.Old, s.Source, became, s.Merge))
	}
	return t.to(w)
}

// WriteFates writes the rows whose names change by a plan, and which stay behind, as text. status is the command that
// says whether the merge was made or undone: a plan does not know; "" if p is on record in a database. It returns the
// error of w.
func WriteFates(w io.Writer, o TextOptions, p *merge.Plan, status string) error {
	t := newText(o)
	t.line(0, Fates(p))
	for _, r := range p.Renames {
		t.rename(r)
	}
	var stays View
	stays.Add(stayingSections(staying(p))...)
	t.sections(stays.Sections)
	if status != "" {
		t.line(0, "This is by the plan. To see whether its merge was made, or undone: "+status)
	}
	return t.to(w)
}

// Fates counts the rows whose names change by a plan, and those that stay behind.
func Fates(p *merge.Plan) string {
	text := Renamed(p)
	if p.Leaving != nil {
		text += "; " + stay(p.Leaving.Rows())
	}
	return text
}

func (t *text) rename(r merge.Rename) {
	t.line(2, fmt.Sprintf("%s of %s %s in %s: %q becomes %q", r.Column, r.Table, merge.KeyText(r.Key), r.Source, r.Old, r.New))
}

// ListFates calls each with rows, one after another.
type ListFates func(each func(merge.Fate) error) error

// CSV writes the rows as CSV, with a line of headings: use it to tell players, and for a page where they look up what became of
// them. Names come from players: one that a program for tables would take for a formula gets an apostrophe in front. It returns
// the errors of the list and of w.
func (list ListFates) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"old_world", "new_world", "table", "column", "old_key", "new_key", "old_name", "new_name", "stays"}); err != nil {
		return err
	}
	err := list(func(f merge.Fate) error {
		return c.Write(slice.Map([]string{f.OldWorld, f.NewWorld, f.Table, f.Column, f.OldKey, f.NewKey, f.OldName, f.NewName, f.Stays}, uncalculated))
	})
	c.Flush()
	return errors.Join(err, c.Error())
}

// uncalculated is a value that no program for tables calculates.
func uncalculated(s string) string {
	if s == "" || !strings.ContainsAny(s[:1], "=+-@\t\r\n'") {
		return s
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] == '-' {
		return s // a key
	}
	return "'" + s
}

// JSON writes the rows as JSON. It returns the errors of the list and of w.
func (list ListFates) JSON(w io.Writer) error {
	if _, err := fmt.Fprintf(w, `{"version":%d,"rows":[`, documentVersion); err != nil {
		return err
	}
	between := "\n"
	err := list(func(f merge.Fate) error {
		b, err := json.Marshal(f)
		if err == nil {
			_, err = io.WriteString(w, between+string(b))
		}
		between = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n]}\n")
	return err
}
