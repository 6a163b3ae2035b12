package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/rules"
)

func TestUnsuitableOptions(t *testing.T) {
	for want, opts := range map[string]rules.Options{
		`unique 1: no world has a table "charcters" (did you mean "characters"?)`:                                                         {Uniques: []rules.DeclaredUnique{{Table: "charcters", Columns: []string{"name"}}}},
		`unique 1: table "characters" has no column "nmae" (did you mean "name"?)`:                                                        {Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"nmae"}}}},
		`unique 1: table "guild" has no column "nope": it has id, leader and name`:                                                        {Uniques: []rules.DeclaredUnique{{Table: "guild", Columns: []string{"nope"}}}},
		`unique 1: it has no column of "characters"`:                                                                                      {Uniques: []rules.DeclaredUnique{{Table: "characters"}}},
		`unique 1: it has column "name" twice`:                                                                                            {Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name", "name"}}}},
		`reference 1: "guilds.id": no world has a table that matches guilds (did you mean "guild"?)`:                                      {Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"pets.owner"}, To: []string{"guilds.id"}}}}}},
		`reference 1: it pairs 2 columns with 3: want the same number on both sides`:                                                      {Rules: []rules.Declarations{{References: []rules.DeclaredReference{{Table: "pets", Columns: []string{"owner", "name"}, ToTable: "guild", ToColumns: []string{"id", "name", "leader"}}}}}},
		`reference 1: none and when need a reference of one column, this one has 2`:                                                       {Rules: []rules.Declarations{{References: []rules.DeclaredReference{{Table: "pets", Columns: []string{"owner", "name"}, ToTable: "guild", ToColumns: []string{"id", "name"}, None: []string{"0"}}}}}},
		`account 1: table "characters" has no column "acount" (did you mean "account"?)`:                                                  {Accounts: []rules.AccountColumn{{Table: "characters", Column: "acount"}}},
		`account 1: max is -1, want 0 or more`:                                                                                            {Accounts: []rules.AccountColumn{{Table: "characters", Column: "account", Max: -1}}},
		`id 1: column guid of characters is INT in a: an ID is 10 bytes or 20 digits of text`:                                             {IDs: []rules.IDColumn{{Table: "characters", Column: "guid"}}},
		`allow: no rule has the code "key-colision" (did you mean "key-collision"?)`:                                                      {Allow: []string{"key-colision"}},
		`allow: "key-collision:charcters": no world has a table that matches charcters (did you mean "characters"?)`:                      {Allow: []string{"key-collision:charcters"}},
		`allow: "key-collision:c*.giud": no such table has a column that matches giud (did you mean "guid"?)`:                             {Allow: []string{"key-collision:c*.giud"}},
		`allow: "key-collision:a.b.c": it has more than a table and a column; put a name with a dot in backquotes: want key-collision:ta`: {Allow: []string{"key-collision:a.b.c"}},
		`unique 1 in r.toml:3: no world has a table "a"`:                                                                                  {Uniques: []rules.DeclaredUnique{{Table: "a", Columns: []string{"b"}, File: "r.toml", Line: 3}}},
		`unique 1 in r.toml:3: none of characters.guid: none has "abc", but characters.guid is INT: no row can`:                           {Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"guid"}, None: []string{"abc"}, File: "r.toml", Line: 3}}},
		`account 1 in r.toml:4: no world has a table "a"`:                                                                                 {Accounts: []rules.AccountColumn{{Table: "a", Column: "b", File: "r.toml", Line: 4}}},
		`id 1 in r.toml:5: no world has a table "a"`:                                                                                      {IDs: []rules.IDColumn{{Table: "a", Column: "b", File: "r.toml", Line: 5}}},
		`world 1 in r.toml:6: "a.b": no world has a table`:                                                                                {Worlds: []rules.WorldKey{{At: "a.b", Value: "id", File: "r.toml", Line: 6}}},
		`plain "a.b" in r.toml:7: "a.b": no world has a table`:                                                                            {Rules: []rules.Declarations{{File: "r.toml", Plain: []string{"a.b"}, LineOf: func(list, text string) int { return len(list) + len("ab") }}}},
		`table characters in r.toml:8: renumber = "guid": the column is part of the key`:                                                  {Tables: []rules.TablePolicy{{Tables: []string{"characters"}, Policy: rules.PolicyCopy, Renumber: "guid", Within: []string{"account"}, File: "r.toml", Line: 8}}},
		`table characters of a cannot be combined in r.toml:9: column guid`:                                                               {Tables: []rules.TablePolicy{{Tables: []string{"characters"}, Policy: rules.PolicyCombine, Columns: map[string]string{"guid": "max"}, File: "r.toml", Line: 9}}},
		`table ["characters"] in r.toml:9: set: no table that it names has a column x`:                                                    {Tables: []rules.TablePolicy{{Tables: []string{"characters"}, Policy: rules.PolicyCombine, Columns: map[string]string{"x": "max"}, File: "r.toml", Line: 9}}},
	} {
		report, err := merge.Check(context.Background(), sources(game("a", 1, 2), game("b", 11, 2)), opts)
		if report != nil || !errors.Is(err, rules.ErrOptions) || !strings.HasPrefix(err.Error()+" ", want) {
			t.Errorf("report %v, error %v, want %q", report, err, want)
		}
	}
}
