package main

import "mergesafe/merge"

// reviewed is what a person made of the proposed rules. With the tools it is a file:
// [check], [[check.reference]], [[merge.table]] and [[merge.counter]].
func reviewed() merge.Options {
	return merge.Options{
		Rules: []merge.Declarations{{
			Plain:   []string{"heroes.level", "heroes.gold", "stats.wins", "mail.kind"},
			Natural: []string{"items.template", "spells.spell"},
			References: []merge.DeclaredReference{
				{At: []string{"stats.hero", "items.owner", "spells.hero", "mail.receiver"}, To: []string{"heroes.id"}},
				// Who sends a mail is a hero only in mails of players.
				{At: []string{"mail.sender"}, To: []string{"heroes.id"}, When: &merge.When{Column: "kind", Is: []string{"0"}}, Others: merge.OthersPlain},
				{At: []string{"mail.item"}, To: []string{"items.id"}, None: []string{"0"}},
			},
		}},
		// The target's counter stays, and is raised above all items that come.
		Tables: []merge.TablePolicy{{Tables: []string{"seq"}, Policy: merge.PolicySkip}},
		Rekey: &merge.Rekey{
			Auto:     true,
			Counters: []merge.CounterRow{{At: "seq.next", When: &merge.When{Column: "name", Is: []string{"item"}}, Space: "items.id"}},
		},
	}
}
