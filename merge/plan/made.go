package plan

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
)

// What finds out that tables were altered since the plan was made, and says in which way, is in
// this file.

// Form is how the tables of a database are made. What moves with the rows, such as counters,
// is not in it. What a server takes as one statement is no matter of tables.
func Form(s *world.World) *catalog.Catalog {
	tables := slices.Clone(s.Known.Tables)
	for i := range tables {
		t := &tables[i]
		if counter := t.AutoIncrement; counter != nil {
			t.AutoIncrement = &catalog.AutoIncrement{Column: counter.Column, Max: counter.Max}
		}
		size := func(c catalog.Condition) bool { return c.Kind == catalog.ConditionSize }
		t.Conditions = slices.DeleteFunc(slices.Clone(t.Conditions), size)
	}
	c := s.Known
	return &catalog.Catalog{Engine: c.Engine, SchemaVersion: c.SchemaVersion, Tables: tables, Skipped: c.Skipped}
}

// Schema is a fingerprint of the form, without what counts.
func Schema(s *world.World) string {
	c := Form(s)
	for i := range c.Tables {
		c.Tables[i].AutoIncrement = nil
	}
	return world.Fingerprint([]any{c.Engine, c.SchemaVersion, c.Tables, c.Skipped})
}

// Pack is a form as a plan keeps it.
func Pack(c *catalog.Catalog) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(w).Encode(c), w.Close())
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}

// unpack reads what pack wrote.
func unpack(text string) (*catalog.Catalog, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	c := new(catalog.Catalog)
	return c, json.NewDecoder(io.LimitReader(r, 1<<28)).Decode(c)
}

// Altered says how the tables of a database differ from those that the plan found there; "" if
// they do not. Of a world but the first that was copied, only the tables count from which rows came, those that are the
// same in every world, and new ones.
func (p *Plan) Altered(i int, s *world.World, copied bool) string {
	const another = "the schema of its tables has changed since the plan was made"
	want := p.Worlds[i]
	was, err := unpack(want.Tables)
	if err != nil {
		return fmt.Sprintf("the plan does not say how its tables were created: %v", err)
	}
	now := Form(s)
	if copied && i > 0 {
		var stayed []string
		for _, t := range was.Tables {
			same := slices.ContainsFunc(p.Alike, func(a Alike) bool { return a.Table == t.Name })
			if p.Comes(i, t.Name) == nil && !same {
				stayed = append(stayed, t.Name)
			}
		}
		for _, c := range []*catalog.Catalog{was, now} {
			c.Skipped = nil
			c.Tables = slices.DeleteFunc(c.Tables, func(t catalog.Table) bool { return slices.Contains(stayed, t.Name) })
		}
	}
	if world.Fingerprint(was) == world.Fingerprint(now) {
		return ""
	}
	drift := now.Outline().Drift(was.Outline())
	if len(drift) == 0 { // in what an outline has not
		for i := range min(len(was.Tables), len(now.Tables)) {
			if t := &now.Tables[i]; world.Fingerprint(t) != world.Fingerprint(&was.Tables[i]) {
				drift = append(drift, "table "+t.Name+": its keys, references or conditions have different names")
			}
		}
	}
	const most = 5
	return another + ": " + printable.List(drift, "; ", most)
}
