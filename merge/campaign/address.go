package campaign

import (
	"path/filepath"
	"strconv"
	"strings"

	"mergesafe/internal/sqldb"
)

// WithAccount is the DSN of an address.
func WithAccount(address, account string) string {
	if rest, ok := strings.CutPrefix(address, string(sqldb.MySQL)+":"); ok {
		return string(sqldb.MySQL) + ":" + account + rest
	}
	return address
}

// aroundName divides an address into the name of its database and what is around that.
func aroundName(address string) (before, name, after string) {
	mysql := strings.HasPrefix(address, string(sqldb.MySQL)+":")
	end := len(address) - len(filepath.Ext(address))
	at := strings.LastIndexAny(address, `:/\`) + 1
	if mysql {
		at = strings.LastIndexByte(address, '/') + 1
		end = at + len(address[at:])
		if i := strings.IndexByte(address[at:], '?'); i >= 0 {
			end = at + i
		}
	}
	end = max(at, end)
	return address[:at], address[at:end], address[end:]
}

// shown is an address as hooks get it: without parameters; "" if there is none.
func shown(address string) string {
	if address == "" {
		return ""
	}
	return sqldb.Redact(address)
}

// New is where the new database of a world is to be: beside the one at the address now, unless
// the text is an address. {first} is the world's name, and {n} is one more than the number that the
// name of its database has there now, or 2: names do not grow if the result of one merge is merged
// again. If the world itself has the name that was made for it, its number counts the same way.
func New(text, world, now string) string {
	before, had, after := aroundName(now)
	name := text
	if strings.Contains(text, ":") {
		before, after = "", ""
		_, name, _ = aroundName(text)
	}
	mark, _, counts := strings.Cut(name, intoNumber)
	_, mark, targeted := cutLast(mark, intoFirst)
	number := 1
	if counts {
		if rest, digits, _ := cutLast(had, mark); rest != "" || !targeted {
			number = max(number, numberIn(digits))
		}
		if rest, digits, _ := cutLast(world, mark); targeted && rest != "" && numberIn(digits) > 0 {
			world, number = rest, max(number, numberIn(digits))
		}
	}
	fill := strings.NewReplacer(intoFirst, world, intoNumber, strconv.Itoa(number+1))
	return before + fill.Replace(text) + after
}

// cutLast divides a text at the last place where it has another; after is all of it if it has not.
func cutLast(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(at):], true
}

// numberIn is the number that a text is; 0 if it is none.
func numberIn(digits string) int {
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// same reports whether two DSNs name one database, by what they say. It is for databases that are not there yet: others
// are compared by [merge.Twins], since two names may lead to one.
func same(a, b string) bool {
	first, ok1 := sqldb.ParseServer(a)
	second, ok2 := sqldb.ParseServer(b)
	if ok1 && ok2 {
		return first.Address == second.Address && strings.EqualFold(first.Database, second.Database)
	}
	x, err1 := filepath.Abs(strings.TrimPrefix(a, "sqlite:"))
	y, err2 := filepath.Abs(strings.TrimPrefix(b, "sqlite:"))
	return ok1 == ok2 && err1 == nil && err2 == nil && x == y
}
