package sqldb

import (
	"strconv"
	"strings"
)

// native writes a query as the driver takes it.
func (db *DB) native(query string) string { return db.dialect.Native(query) }

// Native writes a query as the driver of the dialect takes it. Queries have a ? for each argument, and
// may have names in backquotes. A dialect that numbers its arguments gets $1, $2 and double quotes. A
// query that has $1 already is left as it is, and so is what stands in quotes or in a comment.
func (d Dialect) Native(query string) string {
	if !d.Words().Dollars || !strings.ContainsAny(query, "?`") {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 64)
	n := 0
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case c == '?':
			n++
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(n))
		case c == '`':
			b.WriteByte('"')
		case c == '$' && i+1 < len(query) && query[i+1] == '1':
			return query
		case c == '\'' || c == '"':
			end := i + 1 + strings.IndexByte(query[i+1:]+string(c), c)
			b.WriteString(query[i:min(end+1, len(query))])
			i = end
		case strings.HasPrefix(query[i:], "--"):
			end := i + strings.IndexByte(query[i:]+"\n", '\n')
			b.WriteString(query[i:end])
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
