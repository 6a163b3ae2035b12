package transfer

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// What finds out that tables were altered since the plan was made, and says in which way, is in
// this file.

// form is how the tables of a database are made. What moves with the rows, such as counters,
// is not in it, nor are triggers, which come and go: see [run.triggersNow]. What a server
// takes as one statement is no matter of tables.
func (s *source) form() *merge.Catalog {
	tables := slices.Clone(s.catalog.Tables)
	for i := range tables {
		t := &tables[i]
		t.Triggers = nil
		if counter := t.AutoIncrement; counter != nil {
			t.AutoIncrement = &merge.AutoIncrement{Column: counter.Column, Max: counter.Max}
		}
		size := func(c merge.Condition) bool { return c.Kind == merge.ConditionSize }
		t.Conditions = slices.DeleteFunc(slices.Clone(t.Conditions), size)
	}
	c := s.catalog
	return &merge.Catalog{Engine: c.Engine, SchemaVersion: c.SchemaVersion, Tables: tables, Skipped: c.Skipped}
}

// schema is a fingerprint of the form, without what counts.
func (s *source) schema() string {
	c := s.form()
	for i := range c.Tables {
		c.Tables[i].AutoIncrement = nil
	}
	return fingerprint([]any{c.Engine, c.SchemaVersion, c.Tables, c.Skipped})
}

// pack is a form as a plan keeps it.
func pack(c *merge.Catalog) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(w).Encode(c), w.Close())
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// unpack reads what pack wrote.
func unpack(text string) (*merge.Catalog, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	c := new(merge.Catalog)
	return c, json.NewDecoder(io.LimitReader(r, 1<<28)).Decode(c)
}

// altered says how the tables of a database differ from those that the plan found there; "" if
// they do not. Of a source that was copied, only the tables count from which rows came. A plan of
// an older program knows no more than the fingerprint.
func (p *Plan) altered(i int, s *source, copied bool) string {
	const another = "its tables have another schema than when the plan was made"
	want := p.worlds()[i]
	if want.Tables == "" {
		if copied && i > 0 || s.schema() == want.Schema {
			return ""
		}
		return another
	}
	was, err := unpack(want.Tables)
	if err != nil {
		return fmt.Sprintf("the plan does not say how its tables were made: %v", err)
	}
	now := s.form()
	if copied && i > 0 {
		for _, c := range []*merge.Catalog{was, now} {
			c.Skipped = nil
			c.Tables = slices.DeleteFunc(c.Tables, func(t merge.Table) bool { return p.table(t.Name) == nil })
		}
	}
	if fingerprint(was) == fingerprint(now) {
		return ""
	}
	drift := now.Outline().Drift(was.Outline())
	if len(drift) == 0 { // in what an outline has not
		for i := range min(len(was.Tables), len(now.Tables)) {
			if t := &now.Tables[i]; fingerprint(t) != fingerprint(&was.Tables[i]) {
				drift = append(drift, "table "+t.Name+": its keys, references or conditions have other names")
			}
		}
	}
	const most = 5
	return another + ": " + printable.List(drift, "; ", most)
}

// unaltered returns a [*RefusedError] if tables were altered since the merge was planned. then
// says what to do.
func (r *run) unaltered(ctx context.Context, doing, then string) error {
	return r.retry(ctx, "reading the databases", func(ctx context.Context) error {
		refused := &RefusedError{Doing: doing}
		for i, c := range append([]*connection{r.target}, r.sources...) {
			s, err := openSource(ctx, c.Database)
			if err != nil {
				return err
			}
			if what := r.plan.altered(i, s, true); what != "" {
				refused.Refusals = append(refused.Refusals, Refusal{Source: c.Name, Reason: what + ": " + then})
			}
			s.Close()
		}
		if len(refused.Refusals) > 0 {
			return refused
		}
		return nil
	})
}
