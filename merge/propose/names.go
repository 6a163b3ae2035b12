package propose

import (
	"slices"
	"strings"
	"unicode"

	"mergesafe/merge/check"
)

// idWords are words by which columns say that they hold a key.
var idWords = []string{"id", "guid", "uid", "uuid", "no", "ids", "guids", "aid", "cid", "gid", "pid"}

// generalKeys are names of keys that say nothing of what they are keys of.
var generalKeys = append([]string{"key", "entry", "index", "number", "name", "nr", "num", "code"}, idWords...)

// playerWords are words for those who play.
var playerWords = []string{"character", "characters", "char", "chr", "player", "role", "user", "hero", "avatar", "toon"}

// peopleWords are words for those who play, and for the parts that they play.
var peopleWords = append([]string{
	"owner", "leader", "master", "founder", "captain", "creator", "crafter", "maker", "author", "poster", "writer",
	"sender", "receiver", "recipient", "addressee", "giver", "from", "seller", "buyer", "bidder", "highestbidder", "vendor", "donor",
	"killer", "victim", "attacker", "winner", "loser", "target", "looter", "caster", "opponent", "challenger",
	"member", "friend", "buddy", "partner", "spouse", "husband", "wife", "father", "mother", "child", "mentor", "senior", "junior",
	"invitee", "inviter", "applicant", "reporter", "reported", "assigned", "closed", "resolved", "banned", "banner", "signer",
	"cid",
}, playerWords...)

// measureWords are the last words of names of columns that measure or count something.
var measureWords = []string{
	"count", "counter", "amount", "quantity", "total", "sum", "number", "num", "size", "length", "width", "height", "weight",
	"level", "lvl", "lv", "exp", "experience", "rank", "grade", "tier", "points", "point", "score", "rating", "kills", "deaths", "wins", "losses", "tries",
	"slots", "slot", "capacity", "limit", "max", "min", "cap", "price", "cost", "money", "gold", "cash", "coins", "fee", "tax",
	"chance", "rate", "ratio", "percent", "time", "date", "day", "days", "hours", "minutes", "seconds", "duration", "delay", "cooldown", "expires", "expire", "expiration",
	"status", "state", "type", "kind", "mode", "flag", "flags", "mask", "options", "order", "index", "position", "x", "y", "z",
	"health", "hp", "mp", "mana", "power", "damage", "durability", "charges", "stats", "str", "dex", "int", "luk", "vit", "agi", "luck",
}

// thingWords are words for what games count and often keep without a table.
var thingWords = []string{"party", "group", "raid", "team", "family", "clan", "alliance", "squad", "convoy", "fleet", "lobby", "room", "match", "session", "channel", "instance", "messenger", "battle"}

func isThing(word string) bool { return slices.Contains(thingWords, word) }

// aboutMeasures reports whether a column is called like one that counts something.
func aboutMeasures(words []string) bool {
	return len(words) > 0 && slices.Contains(measureWords, words[len(words)-1])
}

// partWords are those of peopleWords that say by themselves that a character is named.
var partWords = []string{"owner", "leader", "master", "founder", "captain", "creator", "sender", "receiver", "recipient", "addressee", "seller", "buyer", "bidder", "killer", "victim", "member", "friend"}

// endLikeIDs are words that end like an ID and are none.
var endLikeIDs = []string{"valid", "invalid", "avoid", "android", "rapid", "solid", "liquid", "fluid", "hybrid", "shield", "paid", "raid", "grid", "void", "amid", "acid"}

// nameWords takes the name of a column or table apart: leaderGuid1 and leader_guid into
// leader and guid, guildid into guild and id.
func nameWords(name string) (words []string) {
	runes := []rune(name)
	var word []rune
	end := func() {
		if len(word) == 0 {
			return
		}
		w := strings.ToLower(string(word))
		word = word[:0]
		for _, suffix := range []string{"guid", "uuid", "uid", "cid", "id"} {
			if base, ok := strings.CutSuffix(w, suffix); ok && len(base) >= 3 && !slices.Contains(endLikeIDs, w) {
				words = append(words, base, suffix)
				return
			}
		}
		words = append(words, w)
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// sameNames is the name of a column without what is written in different ways, and
// without digits: item0 and item_18 are the same.
func sameNames(name string) string { return strings.Join(nameWords(name), "") }

// nouns returns what the name of a table calls its rows.
func nouns(table string) (all []string) {
	for _, w := range nameWords(table) {
		all = append(all, check.Singulars(w)...)
	}
	return all
}

func hasIDWord(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(idWords, w) })
}

// aboutPeople reports whether a column is called like one that names a character or an
// account: playerGuid1, assigned_to; not char_options.
func aboutPeople(words []string) bool {
	head := slices.Clone(words)
	for len(head) > 1 && (slices.Contains(idWords, head[len(head)-1]) || slices.Contains([]string{"by", "to", "of"}, head[len(head)-1])) {
		head = head[:len(head)-1]
	}
	return len(head) > 0 && slices.ContainsFunc(check.Singulars(head[len(head)-1]), func(s string) bool {
		return slices.ContainsFunc(peopleWords, func(w string) bool { return s == w || len(w) >= 5 && strings.HasSuffix(s, w) })
	})
}

// ofPlayers reports whether a table is called like one of those who play.
func ofPlayers(nouns []string) bool {
	return slices.ContainsFunc(nouns, func(w string) bool { return slices.Contains(playerWords, w) })
}

// aboutAccounts reports whether a column is called like one that names an account.
func aboutAccounts(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w == "acc" || w == "acct" || strings.Contains(w, "account") })
}

// nameScore is how much the name of a column says that it names rows of a table by
// their key: 3 if it is the key's own name, or a noun of the table with "id"; 2 for the
// noun alone; 1 for a part of it. 0 is nothing.
func nameScore(column, ofTable, table, key string) float64 {
	words, keyWords := nameWords(column), nameWords(key)
	general := !slices.ContainsFunc(keyWords, func(w string) bool { return !slices.Contains(generalKeys, w) })
	if !general && slices.Equal(words, keyWords) {
		return 3
	}
	if ofTable == table {
		return 0 // the row's own number of something, rather than a row beside it
	}
	of, far := nouns(table), []string(nil)
	if parts := nameWords(table); len(parts) > 2 { // item_consume_log: a log rather than an item
		of = slices.Concat(check.Singulars(parts[len(parts)-1]), check.Singulars(check.Squeeze(table)))
		far = nouns(table)
	}
	var heads []string // what a row of the table is
	if parts := nameWords(table); len(parts) > 0 {
		heads = check.Singulars(parts[len(parts)-1])
	}
	if !general {
		for _, w := range keyWords {
			if !slices.Contains(generalKeys, w) {
				of, heads = append(of, w), append(heads, w)
			}
		}
	}
	base := words
	for len(base) > 0 && slices.Contains(idWords, base[len(base)-1]) {
		base = base[:len(base)-1]
	}
	if len(base) == 0 {
		if sharesFirst(ofTable, table) {
			return 1
		}
		return 0
	}
	if !general && len(words) == len(keyWords) && len(base) < len(words) && slices.Equal(base, keyWords[:min(len(base), len(keyWords))]) {
		return 1 // item_id is something else where the key is item_no
	}
	noun := func(w string) bool {
		return slices.ContainsFunc(check.Singulars(w), func(s string) bool { return slices.Contains(of, s) })
	}
	whole := check.Squeeze(strings.Join(base, ""))
	exact := slices.ContainsFunc(check.Singulars(whole), func(s string) bool { return slices.Contains(check.Singulars(table), s) })
	switch last := base[len(base)-1]; {
	case exact && len(base) < len(words):
		return 3.5
	case noun(last) && len(base) < len(words) && !slices.ContainsFunc(check.Singulars(last), func(w string) bool { return slices.Contains(heads, w) }):
		return 2.5 // guild_id beside guild_members, of which each is a member
	case noun(last) && len(base) < len(words):
		return 3
	case exact:
		return 2.5
	case noun(last):
		return 2
	}
	if last := base[len(base)-1]; slices.ContainsFunc(heads, func(n string) bool { return len(n) >= 4 && strings.HasSuffix(last, n) }) {
		return 2 // killerguild
	}
	for _, w := range base {
		if noun(w) {
			return 1
		}
		for _, n := range append(far, of...) {
			if len(w) >= 4 && len(n) >= 4 && (strings.HasPrefix(n, w) || strings.HasPrefix(w, n)) {
				return 1
			}
		}
	}
	return 0
}

// sharesFirst reports whether the names of two tables begin with the same noun.
func sharesFirst(a, b string) bool {
	x, y := nameWords(a), nameWords(b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return slices.ContainsFunc(check.Singulars(x[0]), func(s string) bool { return slices.Contains(check.Singulars(y[0]), s) })
}
