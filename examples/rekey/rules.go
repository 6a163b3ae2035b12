package main

import (
	"mergesafe/examples/rekey/world"
	"mergesafe/merge/declare"
)

// reviewed is what a person made of the proposed rules. With the tools it is a file:
// [check], [[check.reference]], [[merge.table]] and [[merge.counter]].
func reviewed() declare.Options {
	return declare.Options{
		Rules: []declare.Declarations{{
			Plain: []string{"heroes.level", "heroes.gold", "heroes.seen", "heroes.banned", "stats.wins", "mail.kind"},
			// One account database for both worlds, and the game's own data.
			Shared: []string{"heroes.account", "items.template", "spells.spell"},
			References: []declare.DeclaredReference{
				{At: []string{"stats.hero", "items.owner", "spells.hero", "mail.receiver"}, To: []string{"heroes.id"}},
				// Who sends a mail is a hero only in mails of players.
				{At: []string{"mail.sender"}, To: []string{"heroes.id"}, When: &declare.When{Column: "kind", Is: []string{"0"}}, Others: declare.OthersPlain},
				{At: []string{"mail.item"}, To: []string{"items.id"}, None: []string{"0"}},
			},
		}},
		// The counter of the first world stays, and is raised above all items that come.
		Tables: []declare.TablePolicy{{Tables: []string{"seq"}, Policy: declare.PolicySkip}},
		Rekey: &declare.Rekey{
			Auto:     true,
			Counters: []declare.CounterRow{{At: "seq.next", When: &declare.When{Column: "name", Is: []string{"item"}}, Space: "items.id"}},
		},
	}
}

// leaving is reviewed with the rules of leave.toml: who stays behind, and what becomes of what refers to them.
func leaving() declare.Options {
	o := reviewed()
	refs := o.Rules[0].References
	refs[0].Gone, refs[1].Gone, refs[2].Gone = declare.GoneDrop, declare.GoneNone, declare.GoneNone
	refs[1].None = []string{"0"} // a mail without a sender
	o.Now = world.Today
	o.Leave = []declare.Leave{
		{Table: "heroes", Where: "level <= 30 AND seen < :now - 30*86400 AND gold < 500000",
			Best: &declare.Best{Of: "account", Keep: 3, By: []string{"level desc", "seen desc"}}},
		{Table: "heroes", Where: "banned = 1"},
	}
	return o
}
