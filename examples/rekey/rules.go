package main

import "mergesafe/merge/declare"

// reviewed is what a person made of the proposed rules. With the tools it is a file:
// [check], [[check.reference]], [[merge.table]] and [[merge.counter]].
func reviewed() declare.Options {
	return declare.Options{
		Rules: []declare.Declarations{{
			Plain:   []string{"heroes.level", "heroes.gold", "stats.wins", "mail.kind"},
			Natural: []string{"items.template", "spells.spell"},
			References: []declare.DeclaredReference{
				{At: []string{"stats.hero", "items.owner", "spells.hero", "mail.receiver"}, To: []string{"heroes.id"}},
				// Who sends a mail is a hero only in mails of players.
				{At: []string{"mail.sender"}, To: []string{"heroes.id"}, When: &declare.When{Column: "kind", Is: []string{"0"}}, Others: declare.OthersPlain},
				{At: []string{"mail.item"}, To: []string{"items.id"}, None: []string{"0"}},
			},
		}},
		// The target's counter stays, and is raised above all items that come.
		Tables: []declare.TablePolicy{{Tables: []string{"seq"}, Policy: declare.PolicySkip}},
		Rekey: &declare.Rekey{
			Auto:     true,
			Counters: []declare.CounterRow{{At: "seq.next", When: &declare.When{Column: "name", Is: []string{"item"}}, Space: "items.id"}},
		},
	}
}
