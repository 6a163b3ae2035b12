package entity

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/number"
)

// FieldError says which field is not valid, and why.
type FieldError struct {
	Entity string // "player", "item", "guild" or "guild member"
	Field  string // by its name in JSON and in the database
	Reason string // the error and the expected value, to be read after the name of the field
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("entity: %s: %s %s", e.Entity, e.Field, e.Reason)
}

// Validate returns a [*FieldError] for the first field that is not valid.
func (p Player) Validate() error {
	c := check{entity: "player"}
	c.present("id", p.ID.IsValid())
	c.text("account", p.Account, MaxAccount)
	c.text("name", p.Name, MaxName)
	c.atLeast("level", int64(p.Level), 1)
	c.atLeast("gold", p.Gold, 0)
	c.time("created_at", p.CreatedAt)
	c.time("updated_at", p.UpdatedAt)
	if p.Number != 0 && !p.Number.IsValid() {
		c.fail("number", "is %d, want 1 to %d, or none", int64(p.Number), int64(number.Max))
	}
	return c.result()
}

// Validate returns a [*FieldError] for the first field that is not valid.
func (i Item) Validate() error {
	c := check{entity: "item"}
	c.present("id", i.ID.IsValid())
	c.present("owner_id", i.Owner.IsValid())
	c.atLeast("template", int64(i.Template), 1)
	c.atLeast("count", i.Count, 0)
	c.time("created_at", i.CreatedAt)
	return c.result()
}

// Validate returns a [*FieldError] for the first field that is not valid.
func (g Guild) Validate() error {
	c := check{entity: "guild"}
	c.present("id", g.ID.IsValid())
	c.text("name", g.Name, MaxName)
	c.present("leader_id", g.Leader.IsValid())
	c.time("founded_at", g.FoundedAt)
	return c.result()
}

// Validate returns a [*FieldError] for the first field that is not valid.
func (m GuildMember) Validate() error {
	c := check{entity: "guild member"}
	c.present("player_id", m.Player.IsValid())
	c.present("guild_id", m.Guild.IsValid())
	switch m.Rank {
	case Member, Officer, Leader:
	default:
		c.fail("rank", "is %s, want %q, %q or %q", quote(string(m.Rank)), Member, Officer, Leader)
	}
	c.time("joined_at", m.JoinedAt)
	return c.result()
}

// check collects the first thing that is wrong with an entity.
type check struct {
	entity string
	first  *FieldError
}

func (c *check) result() error {
	if c.first == nil {
		return nil // not c.first: a nil pointer inside an error is not nil
	}
	return c.first
}

func (c *check) fail(field, format string, args ...any) {
	if c.first == nil {
		c.first = &FieldError{Entity: c.entity, Field: field, Reason: fmt.Sprintf(format, args...)}
	}
}

func (c *check) present(field string, ok bool) {
	if !ok {
		c.fail(field, "is missing")
	}
}

func (c *check) atLeast(field string, value, least int64) {
	if value < least {
		c.fail(field, "is %d, want at least %d", value, least)
	}
}

// text holds for whatever people see and type: what looks the same shall be
// the same, and nothing may hide in it.
func (c *check) text(field, s string, most int) {
	// UTF-8 takes at most 4 bytes a character; a huge input needs no counting.
	if len(s) > most*utf8.UTFMax {
		c.fail(field, "%s has more than %d characters", quote(s), most)
		return
	}
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		c.fail(field, "is missing")
		return
	case !utf8.ValidString(s):
		c.fail(field, "%s is not valid UTF-8", quote(s))
		return
	case n > most:
		c.fail(field, "%s has %d characters, want at most %d", quote(s), n, most)
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsSpace(first) || unicode.IsSpace(last) || isJoiner(first) || isJoiner(last) {
		c.fail(field, "%s begins or ends with a space", quote(s))
		return
	}
	for _, r := range s {
		if ' ' <= r && r <= '~' {
			continue
		}
		// The categories of control, format, line and paragraph separator.
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !isJoiner(r) {
			c.fail(field, "%s has the invisible character %U", quote(s), r)
			return
		}
	}
}

// isJoiner reports whether r shapes its neighbours: emoji and several scripts
// need it between two characters.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d }

var firstTime, lastTime = time.UnixMilli(0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)

func (c *check) time(field string, t time.Time) {
	switch {
	case t.IsZero():
		c.fail(field, "is missing")
	case t.Before(firstTime) || t.After(lastTime):
		c.fail(field, "is in the year %d, want 1970 to 9999", t.Year())
	case t != Time(t):
		c.fail(field, "is %s, want UTC and whole milliseconds, as entity.Time makes them", t)
	}
}

// quote keeps messages short whatever the input: a stranger chooses it.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.Quote(s)
}
