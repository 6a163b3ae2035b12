package campaign

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mergesafe/merge/progress"
	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
)

// Player is what a player is to be told: where the world went, and how the character is called
// there. A key is empty if it is not known.
type Player struct {
	OldWorld string `json:"old_world"`
	NewWorld string `json:"new_world"`
	OldName  string `json:"old_name"`
	NewName  string `json:"new_name"`
	OldKey   string `json:"old_key,omitempty"`
	NewKey   string `json:"new_key,omitempty"`

	Stays string `json:"stays,omitempty"` // why the character stays behind: there is no new world, name or key
}

// Who says which table has a row for each player, and its column with the name. For those
// whose names change, the zero value means every table in which names do.
type Who struct{ Table, Column string }

// Who finds out which table has the players, if the plans leave no doubt: it is the only one
// in which names are changed.
func (b *Book) Who() (Who, error) {
	var found []Who
	for _, m := range b.campaign.Merges {
		plan, err := b.readPlan(m.Name())
		if err != nil {
			return Who{}, err
		}
		if plan == nil {
			continue
		}
		found = named(found, plan)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return Who{}, errors.New(`it is not known which table has the players: name it and its column, such as "characters" and "name"`)
}

// named adds the columns of a plan in which names are changed. Numbers such as slots are none.
func named(all []Who, plan *transfer.Plan) []Who {
	for _, r := range plan.Renames {
		w := Who{r.Table, r.Column}
		if !slices.Contains(all, w) && !slices.ContainsFunc(plan.Renumbered, func(n verdict.Renumbered) bool { return w == Who{n.Table, n.Column} }) {
			all = append(all, w)
		}
	}
	return all
}

// EachPlayer calls each with every player of every world but the first of a merge, and then
// with the players of first worlds whose names change, in the order of the campaign. With renamed,
// only those whose names change are reported, from the plans alone, and no database is read.
//
// Merges that were skipped, refused, or undone, and those without a plan, are left out, and
// returned.
func (b *Book) EachPlayer(ctx context.Context, o Options, who Who, renamed bool, each func(Player) error) (left []string, err error) {
	if !renamed && o.Databases == nil {
		return nil, errors.New("campaign: the players of a world are in its database")
	}
	merges, left, err := b.announced(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range merges {
		plan, err := b.readPlan(m.Name())
		if err != nil {
			return nil, err
		}
		if plan == nil {
			left = append(left, m.Name())
			continue
		}
		if renamed {
			err = eachRename(plan, who, each)
		} else {
			err = eachOf(ctx, o, plan, m, who, each)
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// announced are the merges that players are told of, and the names of the others.
func (b *Book) announced(ctx context.Context) (merges []*record, left []string, err error) {
	err = b.look(ctx, func(ctx context.Context, s state) error {
		merges, left = nil, nil
		for _, m := range b.campaign.Merges {
			r, err := s.merge(ctx, m)
			if err != nil {
				return err
			}
			switch r.Phase {
			case progress.Skipped, progress.Refused, progress.Undone, progress.Undoing:
				left = append(left, m.Name())
			default:
				merges = append(merges, r)
			}
		}
		return nil
	})
	return merges, left, err
}

func eachOf(ctx context.Context, o Options, plan *transfer.Plan, m *record, who Who, each func(Player) error) error {
	all, err := o.databasesOf(m.Worlds)
	if err != nil {
		return err
	}
	codecs, stop, err := o.codecsOf(ctx, plan)
	if err != nil {
		return err
	}
	defer stop()
	into := all[0] // which has the tables of the new database
	into.Name = plan.New.Name
	for i, world := range plan.Worlds {
		world := world.Name
		moved := func(row transfer.Moved) error {
			return each(Player{OldWorld: world, NewWorld: m.Name(), OldName: row.Old, NewName: row.New, OldKey: row.OldKey, NewKey: row.NewKey})
		}
		var err error
		if i > 0 {
			err = transfer.EachMoved(ctx, plan, into, all, i, who.Table, who.Column, codecs, moved)
		}
		if err == nil {
			err = transfer.EachStayed(ctx, plan, into, all, i, who.Table, who.Column, func(key, name, why string) error {
				return each(Player{OldWorld: world, OldName: name, OldKey: key, Stays: why})
			})
		}
		if err != nil {
			return fmt.Errorf("the players of %q: %w", world, err)
		}
	}
	return eachRename(plan, who, func(p Player) error {
		if p.OldWorld != m.Name() { // it was among the others
			return nil
		}
		return each(p)
	})
}

// eachRename calls each with the players of a plan whose names change.
func eachRename(plan *transfer.Plan, who Who, each func(Player) error) error {
	for _, r := range plan.Renames {
		if who != (Who{}) && (r.Table != who.Table || r.Column != who.Column) {
			continue
		}
		p := Player{OldWorld: r.Source, NewWorld: plan.Worlds[0].Name, OldName: r.Old, NewName: r.New, OldKey: transfer.KeyText(r.Key)}
		if r.Source == plan.Worlds[0].Name {
			p.NewKey = p.OldKey
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// renames are the players of a merge whose names change, by the old name as people write it.
type renames struct {
	plan   string // its ID
	who    Who
	byName map[string][]Player
}

// Players answers where a player of a world is now. If the name changed, it says so; if not,
// it is the name that was asked for: whether there is such a player is not checked, and no
// database is read. An empty world finds all players who had that name and have another one
// now. The answer is empty if the campaign does not concern them.
func (b *Book) Players(ctx context.Context, who Who, world, name string) ([]Player, error) {
	merges, _, err := b.announced(ctx)
	if err != nil {
		return nil, err
	}
	var found []Player
	for _, m := range merges {
		if world != "" && !slices.Contains(m.Worlds, world) {
			continue
		}
		all, err := b.renamesOf(m, who)
		if err != nil {
			return nil, err
		}
		n := len(found)
		for _, p := range all[asWritten(name)] {
			if world == "" || p.OldWorld == world {
				found = append(found, p)
			}
		}
		if world != "" && len(found) == n {
			found = append(found, Player{OldWorld: world, NewWorld: m.Name(), OldName: name, NewName: name})
		}
	}
	return found, nil
}

// asWritten is a name without what people get wrong.
func asWritten(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// renamesOf are the players of a merge whose names change. A plan is read again if the state
// has another one.
func (b *Book) renamesOf(m *record, who Who) (map[string][]Player, error) {
	if m.Plan == "" {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.renamed[m.Name()]; k.plan == m.Plan && k.who == who {
		return k.byName, nil
	}
	plan, err := b.readPlan(m.Name())
	if err != nil || plan == nil {
		return nil, err
	}
	all := make(map[string][]Player)
	_ = eachRename(plan, who, func(p Player) error {
		all[asWritten(p.OldName)] = append(all[asWritten(p.OldName)], p)
		return nil
	})
	b.renamed[m.Name()] = renames{m.Plan, who, all}
	return all, nil
}

// PlayersCSV returns what writes players as CSV, with a line of headings, and ends the file.
// Names come from players: one that a program for tables would take for a formula gets an
// apostrophe in front.
func PlayersCSV(w io.Writer) (each func(Player) error, end func() error) {
	c := csv.NewWriter(w)
	err := c.Write([]string{"old_world", "new_world", "old_name", "new_name", "old_key", "new_key", "stays"})
	each = func(p Player) error {
		if err != nil {
			return err
		}
		return c.Write([]string{harmless(p.OldWorld), harmless(p.NewWorld), harmless(p.OldName), harmless(p.NewName), harmless(p.OldKey), harmless(p.NewKey), harmless(p.Stays)})
	}
	return each, func() error { c.Flush(); return errors.Join(err, c.Error()) }
}

// harmless is a value that no program for tables calculates.
func harmless(s string) string {
	if s == "" || !strings.ContainsAny(s[:1], "=+-@\t\r\n'") {
		return s
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] == '-' {
		return s // a key
	}
	return "'" + s
}

// PlayersJSON returns what writes players as JSON, and ends the document.
func PlayersJSON(w io.Writer) (each func(Player) error, end func() error) {
	_, err := io.WriteString(w, `{"version":1,"players":[`)
	between := "\n"
	each = func(p Player) error {
		if err != nil {
			return err
		}
		var b []byte
		if b, err = json.Marshal(p); err == nil {
			_, err = io.WriteString(w, between+string(b))
		}
		between = ",\n"
		return err
	}
	return each, func() error {
		if err == nil {
			_, err = io.WriteString(w, "\n]}\n")
		}
		return err
	}
}
