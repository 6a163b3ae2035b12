package transfer

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
)

// WriteRenames writes the renames of a plan as CSV, with a line of headings: for
// the game to tell these players, and to offer them another name. Values are
// written as they are. They come from players, and some programs for tables
// take a value that begins with = for a formula: import such a column as text.
func (p *Plan) WriteRenames(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"source", "world", "table", "column", "key", "old", "new"})
	for _, r := range p.Renames {
		c.Write([]string{r.Source, r.World, r.Table, r.Column, KeyText(r.Key), r.Old, r.New})
	}
	c.Flush()
	return c.Error()
}

// KeyText writes a key of a [Rename] or a [Difference] for people: bytes, and
// so IDs, as hexadecimal digits, several columns with slashes between them.
func KeyText(key string) string {
	var parts []string
	if err := json.Unmarshal([]byte(key), &parts); err != nil {
		return key
	}
	for i, p := range parts {
		if p == "" {
			return key
		}
		if p[0] == 't' {
			if b, err := hex.DecodeString(p[1:]); err == nil {
				p = "t" + strings.ToValidUTF8(string(b), "\ufffd")
			}
		}
		parts[i] = p[1:]
	}
	return strings.Join(parts, "/")
}
