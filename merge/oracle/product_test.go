package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// This is the only file that knows the program: it plans, applies, proves, opens and takes back a merge into a new
// database, and hands on what of the plan the reference may know.

// database is one that a merge knows by name.
type database = merge.Database

// chosen is what a plan chooses, and the reference cannot compute: how far keys move, new names, and counters.
type chosen struct {
	Refused  []string                    `json:"-"`
	Offsets  map[string]map[string]int64 `json:"offsets"` // by space and world
	Names    []newName                   `json:"names"`
	Counters []newCounter                `json:"counters"`

	plan *merge.Plan
	own  bool // a space has an offset of its own
}

type newName struct {
	World  string `json:"world"`
	Table  string `json:"table"`
	Column string `json:"column"`
	Key    string `json:"key"` // as the reference writes values
	New    string `json:"new"`
}

type newCounter struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Key    string `json:"key"`
	After  uint64 `json:"after"`
}

// planned plans a merge of worlds into a database that does not exist.
func planned(ctx context.Context, rules *Rules, into database, worlds []database) (*chosen, error) {
	opts, err := options(rules)
	if err != nil {
		return nil, err
	}
	opts.RangeRows = 10
	p, err := merge.NewPlan(ctx, into, worlds, opts)
	if err != nil {
		return nil, err
	}
	c := &chosen{plan: p, Offsets: make(map[string]map[string]int64), Names: []newName{}, Counters: []newCounter{}}
	for _, r := range p.Refusals {
		c.Refused = append(c.Refused, r.String())
	}
	if p.Rekey != nil {
		for _, s := range p.Rekey.Spaces {
			c.Offsets[s.Name], c.own = make(map[string]int64), c.own || s.Own
			for _, of := range s.Worlds {
				c.Offsets[s.Name][of.World] = int64(of.Offset)
			}
		}
	}
	for _, r := range p.Renames {
		place := func(n verdict.Renumbered) bool { return n.Table == r.Table && n.Column == r.Column }
		if !slices.ContainsFunc(p.Renumbered, place) {
			c.Names = append(c.Names, newName{r.Source, r.Table, r.Column, keyOf(r.Key), r.New})
		}
	}
	for _, r := range p.Counters {
		c.Counters = append(c.Counters, newCounter{r.Table, r.Column, keyOf(r.Key), r.After})
	}
	return c, nil
}

// keyOf is a key of the plan, as the reference writes it.
func keyOf(key string) string {
	var parts []string
	if json.Unmarshal([]byte(key), &parts) != nil {
		return key
	}
	for i, p := range parts {
		switch p[0] {
		case 's':
			parts[i] = "t" + p[1:]
		case 'u':
			parts[i] = "i" + p[1:]
		}
	}
	return strings.Join(parts, "/")
}

func (c *chosen) apply(ctx context.Context, into database, worlds []database) error {
	_, err := merge.Apply(ctx, c.plan, into, worlds, merge.Options{})
	return err
}

// prove returns an error that begins with "proof:" if the program finds that the new database is not as planned.
func (c *chosen) prove(ctx context.Context, into database, worlds []database) error {
	proof, err := merge.Verify(ctx, c.plan, into, worlds, merge.Options{})
	if err == nil && proof.Verdict != verdict.Pass {
		text, _ := json.Marshal(proof)
		err = fmt.Errorf("proof: %s: %.3000s", proof.Verdict, text)
	}
	return err
}

// open opens a new database that was proved.
func (c *chosen) open(ctx context.Context, into database, worlds []database) error {
	_, err := merge.Open(ctx, c.plan, into, worlds, merge.OpenOptions{})
	return err
}

// became says what the new database remembers of a key of a world.
func became(ctx context.Context, into database, world, table, key string) (now []string, err error) {
	old, ok := keys.ParseInteger([]byte(key))
	if !ok {
		return nil, fmt.Errorf("%q is no key", key)
	}
	way, err := merge.Whereis(ctx, into, world, table, old)
	for _, o := range way {
		if o.Source == world {
			now = append(now, o.New.String())
		}
	}
	return now, err
}

func (c *chosen) undo(ctx context.Context, into database, worlds []database) error {
	done, err := merge.Undo(ctx, c.plan, into, worlds, merge.UndoOptions{})
	if err == nil && !done.Dropped {
		err = fmt.Errorf("%s was not dropped", into.Name)
	}
	return err
}

// options are the rules as the program takes them.
func options(ruled *Rules) (o merge.PlanOptions, err error) {
	var d rules.Declarations
	d.Plain, d.Shared = ruled.Check.Plain, ruled.Check.Shared
	for _, r := range ruled.Check.Reference {
		to, several := r.To.([]string)
		if !several {
			to = []string{r.To.(string)}
		}
		if r.By != "" {
			for _, at := range r.At {
				table, columns := placed(at)
				ofTable, of := placed(to[0])
				o.Copies = append(o.Copies, merge.NameCopy{Table: table, Column: columns[0], Key: r.By,
					OfTable: ofTable, OfColumn: of[0]})
			}
			continue
		}
		said := rules.DeclaredReference{At: r.At, To: to, None: r.None, Dangling: r.Dangling, Format: r.Format,
			Others: r.Others, Gone: rules.Gone(r.Gone), When: r.When.declared()}
		if table, columns := placed(r.At[0]); len(columns) > 1 {
			said.At, said.To = nil, nil
			said.Table, said.Columns = table, columns
			said.ToTable, said.ToColumns = placed(to[0])
		}
		d.References = append(d.References, said)
	}
	o.Check = rules.Options{Rules: []rules.Declarations{d}, Rekey: &rules.Rekey{Auto: ruled.Rekey},
		Now: time.Unix(now, 0), Allow: []string{verdict.CodeReferenceDangle}}
	for _, s := range ruled.Merge.Space {
		space := rules.Space{Name: s.Name, Keys: s.Keys, Keep: s.Keep, Max: uint64(s.Max), Match: s.Match}
		switch offset := s.Offset.(type) {
		case int64:
			space.Step = uint64(offset)
		case map[string]int64:
			space.Offsets = make(map[string]uint64)
			for world, by := range offset {
				space.Offsets[world] = uint64(by)
			}
		}
		o.Check.Rekey.Spaces = append(o.Check.Rekey.Spaces, space)
	}
	for _, c := range ruled.Merge.Counter {
		o.Check.Rekey.Counters = append(o.Check.Rekey.Counters, rules.CounterRow{At: c.At, When: c.When.declared(),
			Space: c.To, Others: c.Others})
	}
	for _, t := range ruled.Merge.Table {
		policy := rules.TablePolicy{Tables: t.Tables, Policy: rules.Policy(t.Policy), Columns: t.Set}
		if n := t.Renumber; n != nil {
			policy.Policy, policy.Renumber, policy.Within = rules.PolicyCopy, n.Column, n.Within
			policy.From, policy.Max = n.From, n.Max
		}
		o.Check.Tables = append(o.Check.Tables, policy)
	}
	for _, l := range ruled.Merge.Leave {
		leave := rules.Leave{Table: l.Table, Where: l.Where}
		if l.Best != nil {
			leave.Best = &rules.Best{Of: l.Best.Of, Keep: l.Best.Keep, By: l.Best.By}
		}
		if l.Fewer != nil {
			leave.Fewer = &rules.Fewer{Of: l.Fewer.Of, Than: l.Fewer.Than}
		}
		o.Check.Leave = append(o.Check.Leave, leave)
	}
	for _, n := range ruled.Merge.Name {
		table, columns := placed(n.At)
		policy := merge.NamePolicy{Table: table, Column: columns[0], Template: n.Template,
			Keep: merge.Keep(n.Keep), By: n.By, MaxLength: n.Max, None: n.None}
		for _, column := range sorted(n.Set) {
			setting, err := rules.ParseSetting(column, n.Set[column])
			if err != nil {
				return o, err
			}
			policy.Set = append(policy.Set, setting)
		}
		o.Names = append(o.Names, policy)
	}
	return o, nil
}

func (w *When) declared() *rules.When {
	if w == nil {
		return nil
	}
	return &rules.When{Column: w.Column, Is: w.Is, Not: w.Not}
}

// placed reads table.column, or table.(a, b).
func placed(at string) (table string, columns []string) {
	table, rest, _ := strings.Cut(at, ".")
	return table, strings.Split(strings.Trim(rest, "()"), ", ")
}
