package record

import (
	"context"
	"strings"
)

// Label is what a record says from its first statement on: whose it is. A server keeps it as the comment of the
// table, SQLite in the text of the statement.
type Label struct {
	ID    string // of the merge
	Begun string // tells this beginning from others of the same plan: [Manifest.Create] chooses it
	Try   bool   // it is that of a rehearsal
	Made  bool   // the database was made by the merge; else it was found, empty
}

const (
	labelBegins, labelEnds = "/* ", " */"

	ofMerge, ofTry = "merge", "try"
	made, found    = "made", "found"
)

func (l Label) String() string {
	words := []string{ofMerge, l.ID, l.Begun, found}
	if l.Try {
		words[0] = ofTry
	}
	if l.Made {
		words[3] = made
	}
	return strings.Join(words, " ")
}

// state is that of a record without a row.
func (l Label) state() State {
	if l.Try {
		return StateTried
	}
	return StateCopying
}

// readLabel returns the label of the record that a database has; none without one.
func (m *Manifest) readLabel(ctx context.Context) (l Label, err error) {
	query := "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
	if m.On.Dialect().MySQL() {
		query = "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
	}
	texts, err := m.On.Texts(ctx, query, RecordTable)
	if err != nil || len(texts) == 0 {
		return l, err
	}
	text := texts[0]
	if _, after, within := strings.Cut(text, labelBegins); within {
		text, _, _ = strings.Cut(after, labelEnds)
	}
	words := strings.Fields(text)
	if len(words) != 4 {
		return Label{ID: "?"}, nil // nobody's, so nothing may be made here
	}
	return Label{ID: words[1], Begun: words[2], Try: words[0] == ofTry, Made: words[3] == made}, nil
}

// Again reports whether the record that was read last is of another beginning of the merge.
func (m *Manifest) Again() bool { return m.Label.ID == m.ID && m.ID != "" && !m.owns(m.Label) }

// owns reports whether a label is that of the merge as [Manifest.Begun] says it was begun: the same plan may have been undone and
// begun again since.
func (m *Manifest) owns(l Label) bool {
	return l.ID == m.ID && m.ID != "" && (m.Begun == "" || l.Begun == m.Begun)
}
