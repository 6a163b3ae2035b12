// Package madeup is the made-up game of the worlds of a fleet: its tables, and the rows of one world.
package madeup

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/inserts"
)

// Shape is what one world is like.
type Shape struct {
	Seed   [2]uint64
	Name   string
	size   int     // characters
	Region int     // one of 100
	active float64 // share of characters that played in the last 30 days
	Drift  Drift
	Now    time.Time
}

// ShapeOf returns the shape of the n-th world of a kind, from 1. Most worlds are small and quiet.
func ShapeOf(seed, kind uint64, n int, name string, now time.Time) Shape {
	s := Shape{Seed: [2]uint64{seed, kind<<32 | uint64(n)}, Name: name, Now: now}
	random := rand.New(rand.NewPCG(s.Seed[0], ^s.Seed[1]))
	size, activity := random.Float64(), random.Float64()
	s.size = 50 + int(2950*size*size*size)
	s.active = 0.02 + 0.5*activity*activity
	s.Region = random.IntN(100)
	switch n % 20 {
	case 3:
		s.Drift = MissingColumn
	case 5:
		s.Drift = OtherType
	}
	return s
}

// generation writes a world, and keeps the first error.
type generation struct {
	Shape
	*rand.Rand
	to  *inserts.Inserter
	err error
}

func (g *generation) add(table string, values ...any) {
	if g.err == nil {
		g.err = g.to.Add(table, values...)
	}
}

// Fill writes the rows of a world: the same rows for the same shape.
func (s Shape) Fill(to *inserts.Inserter) error {
	g := &generation{Shape: s, Rand: rand.New(rand.NewPCG(s.Seed[0], s.Seed[1])), to: to}
	accounts := g.accounts()
	characters, gone := g.characters(accounts)
	g.guilds(characters)
	items, equipped := g.items(characters)
	g.equipment(characters, equipped)
	g.mail(characters, gone, items)
	g.friends(characters, gone)
	for id := range templates {
		g.add("item_templates", 90_001+id, "Thing "+word(id), 5*(id%40))
	}
	g.add("counters", "item", items[len(items)-1]+1)
	return g.err
}

const templates = 300

// next is the key of the next row after one, where a share of the keys is gone.
func (g *generation) next(key int64, gone float64) int64 {
	for key++; g.Float64() < gone; key++ {
	}
	return key
}

func (g *generation) pick(keys []int64) int64 { return keys[g.IntN(len(keys))] }

// ago is a time in Unix seconds, up to so many days ago.
func (g *generation) ago(days float64) int64 {
	return g.Now.Add(-time.Duration(g.Float64() * days * float64(24*time.Hour))).Unix()
}

// accounts are of people who play in this world alone, and of some who play in several.
func (g *generation) accounts() (keys []int64) {
	known := make(map[string]bool)
	for key := g.next(0, 0.1); len(keys) < max(1, g.size*2/3); key = g.next(key, 0.1) {
		login := fmt.Sprintf("%s.%s%d", g.Name, word(g.IntN(4000)), len(keys))
		if g.IntN(10) == 0 {
			if shared := fmt.Sprintf("%s_%d", strings.ToLower(word(g.IntN(1500))), g.IntN(2)); !known[shared] {
				login = shared
			}
		}
		known[login] = true
		g.add("accounts", key, login, g.ago(1000), g.IntN(50)/49)
		keys = append(keys, key)
	}
	return keys
}

// characters returns the keys of those who are there, and of some who were deleted.
func (g *generation) characters(accounts []int64) (keys, gone []int64) {
	names := make(map[string]bool)
	last := int64(0)
	for len(keys) < g.size {
		key := g.next(last, 0.15)
		for deleted := last + 1; deleted < key; deleted++ {
			gone = append(gone, deleted)
		}
		last = key
		name := ""
		for name == "" || names[name] {
			name = g.characterName()
		}
		names[name] = true
		logout := g.Now.AddDate(0, 0, -31).Unix() - g.Int64N(700*24*3600)
		if g.Float64() < g.active {
			days := 30 * g.Float64() * g.Float64() // more of them lately
			logout = g.Now.Add(-time.Duration(days * float64(24*time.Hour))).Unix()
		}
		g.add("characters", key, g.pick(accounts), name, 1+g.IntN(80), g.Int64N(5_000_000), logout-g.Int64N(300*24*3600), logout, 0)
		keys = append(keys, key)
	}
	return keys, gone
}

// characterName is one that many players like, which is then taken in several worlds, or a rare one.
func (g *generation) characterName() string {
	if g.IntN(8) == 0 {
		return word(g.IntN(3000))
	}
	return word(4000+g.IntN(200_000)) + syllables[g.IntN(len(syllables))]
}

// guilds have a leader, who is a member, and members who are in no other.
func (g *generation) guilds(characters []int64) {
	names := make(map[string]bool)
	key, at := int64(0), 0
	for at < len(characters)/2 {
		key = g.next(key, 0.25)
		name := ""
		for name == "" || names[name] {
			name = word(g.IntN(900)) + " " + [...]string{"Guard", "Order", "Circle", "Trade", "Watch"}[g.IntN(5)]
		}
		names[name] = true
		members := characters[at:min(at+3+g.IntN(30), len(characters))]
		at += len(members)
		g.add("guilds", key, name, members[0], g.ago(900))
		for i, member := range members {
			values := []any{member, key, min(i, 4), ""}
			if i%7 == 2 {
				values[3] = "friend of " + word(g.IntN(3000))
			}
			if g.Drift == MissingColumn {
				values = values[:3]
			}
			g.add("guild_members", values...)
		}
	}
}

// items returns all keys, and for each character those that may be worn.
func (g *generation) items(characters []int64) (keys []int64, owned map[int64][]int64) {
	owned = make(map[int64][]int64)
	key := int64(0)
	for _, owner := range characters {
		for range 1 + g.IntN(7) {
			key = g.next(key, 0.3)
			amount := any(1 + g.IntN(20))
			if g.Drift == OtherType {
				amount = fmt.Sprint(amount)
			}
			g.add("items", key, owner, 90_001+g.IntN(templates), amount)
			keys = append(keys, key)
			owned[owner] = append(owned[owner], key)
		}
	}
	return keys, owned
}

func (g *generation) equipment(characters []int64, owned map[int64][]int64) {
	for _, wearer := range characters {
		slots := make([]string, 6)
		for i := range slots {
			slots[i] = "0"
		}
		for i, item := range owned[wearer][:min(len(owned[wearer]), 4)] {
			slots[(i*2+int(wearer))%len(slots)] = strconv.FormatInt(item, 10)
		}
		g.add("equipment", wearer, strings.Join(slots, " "))
	}
}

// Kinds of mail: of these, only a player's has a sender.
const (
	mailOfPlayer = 0
	mailOfShop   = 3
)

func (g *generation) mail(characters, gone, items []int64) {
	key := int64(0)
	for _, receiver := range characters {
		for range g.IntN(3) {
			key = g.next(key, 0.4)
			kind, sender, item := mailOfPlayer, g.pick(characters), int64(0)
			switch g.IntN(10) {
			case 0:
				kind, sender = mailOfShop, 1+g.Int64N(60)
			case 1:
				if len(gone) > 0 {
					sender = g.pick(gone)
				}
			}
			if g.IntN(3) == 0 {
				item = g.pick(items)
			}
			g.add("mail", key, kind, sender, receiver, item, g.ago(60), "Greetings, "+word(g.IntN(3000)))
		}
	}
}

func (g *generation) friends(characters, gone []int64) {
	for _, owner := range characters {
		known := map[int64]bool{owner: true}
		for range g.IntN(3) {
			friend := g.pick(characters)
			if g.IntN(30) == 0 && len(gone) > 0 {
				friend = g.pick(gone)
			}
			if !known[friend] {
				known[friend] = true
				g.add("friends", owner, friend)
			}
		}
	}
}

var syllables = strings.Fields("ka ri mo en tal os vi dra el sha nor wy ba thi lun gar ze ro fin ya be kor mi sal")

// word is the n-th of the names of the game.
func word(n int) string {
	text := ""
	for n += len(syllables); n > 0; n /= len(syllables) {
		text += syllables[n%len(syllables)]
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
