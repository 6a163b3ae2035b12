package world

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
)

// refused is a collation whose weights the server itself does not go by: a
// combining accent alone has some, and equals the empty text.
const refused = "utf8mb4_uca1400_nopad_ai_cs"

// textCollations are one of each sort: with and without padding, of one and of
// several levels, binary, and with rules of a language.
var textCollations = []string{
	"utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci",
	"utf8mb4_general_nopad_ci", "utf8mb4_nopad_bin", "utf8mb4_unicode_nopad_ci",
	"utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_as_ci", "utf8mb4_uca1400_ai_cs", "utf8mb4_uca1400_as_cs",
	"utf8mb4_uca1400_nopad_ai_ci", "utf8mb4_uca1400_nopad_as_ci", refused, "utf8mb4_uca1400_nopad_as_cs",
	"utf8mb4_turkish_ci", "utf8mb4_hungarian_ci", "utf8mb4_thai_520_w2", "utf8mb4_german2_ci", "utf8mb4_danish_ci",
}

// difficultTexts are every pair of a beginning and an end that some collation
// treats in its own way.
func difficultTexts() []string {
	heads := []string{"", "a", "A", "á", "Á", "ä", "ae", "æ", "ß", "ss", "SS", "z", "ａ", "Ａ", "ア", "ァ", "ｱ", "あ", "ば", "は゛",
		"\u3000", "\u00a0", "\t", "\x01", "\x00", "Ⅳ", "IV", "ﬁ", "fi", "😀", "😁", "𐐀", "𐐨", "中", "国", "國", "ø", "o", "ö", "ł", "i", "ı", "İ", "I",
		"ch", "c", "ll", "e\u0301", "é", "\u200b", "\u00ad", "1", "١", "-", "_", "\uffff", "\ufffd", "\U0010ffff", "ǆ", "dž", "σ", "ς", "Σ",
		"\u0e40\u0e01", "\u0e01", "K", "\u212a", "?", "ﷺﷺﷺﷺﷺﷺ"}
	tails := []string{"", " ", "  ", "\t", "\u3000", "\u00a0", "\x01", "\x00", "a", " a", "\u200b", "\u00ad", "\u0301", "-", " \t", "\t ", " \u3000", "\u00ad ", " \u00ad"}
	var all []string
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// knows reports whether the server has the collation.
func (w *world) knows(t *testing.T, collation string) bool {
	t.Helper()
	var one int
	err := w.db.QueryRowContext(t.Context(), "SELECT _utf8mb4'a' = _utf8mb4'a' COLLATE "+collation).Scan(&one)
	if err != nil {
		t.Logf("the server does not know %s: %v", collation, err)
	}
	return err == nil
}

// Two texts have one sorting form exactly when the server takes them for
// equal, and the forms sort as the texts do. The server itself looks for a pair
// that compares in another way: to ask it about each takes much longer.
func TestTextEqualsAsTheServerSays(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	var values []string
	for i, text := range difficultTexts() {
		values = append(values, fmt.Sprintf("(%d, CONVERT(x'%x' USING utf8mb4), 0)", i, text))
	}
	w.exec(t, "CREATE TABLE texts (id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_bin, place INT) CHARACTER SET utf8mb4",
		"INSERT INTO texts VALUES "+strings.Join(values, ", "))
	s := w.open(t)
	for i, collation := range textCollations {
		if !w.knows(t, collation) || i%servertest.Scale(6, 1) != 0 {
			continue
		}
		t.Run(collation, func(t *testing.T) {
			scan := catalog.Scan{Table: "texts", Order: []catalog.Order{{Column: "v", Collation: collation}}, Carry: []string{"id"}}
			rows, err := collect(s.Scan(t.Context(), scan))
			if u, ok := asUnsupported(err); ok && collation == refused {
				t.Skip(u)
			}
			if err != nil || len(rows) != len(values) {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			var places []string // of each form among the forms
			place, last := 0, rows[0].order[0]
			for _, r := range rows {
				switch bytes.Compare(last, r.order[0]) {
				case 1:
					t.Fatalf("text %s is out of order: %x after %x", r.carry[0], r.order[0], last)
				case -1:
					place++
				}
				last = r.order[0]
				places = append(places, fmt.Sprintf("(%s, %d)", r.carry[0], place))
			}
			w.exec(t, "INSERT INTO texts (id, place) VALUES "+strings.Join(places, ", ")+" ON DUPLICATE KEY UPDATE place = VALUES(place)")
			const otherwise = "SELECT x.id, x.place, y.id, y.place FROM texts AS x JOIN texts AS y ON x.id < y.id WHERE STRCMP(x.v, y.v COLLATE %s) <> SIGN(x.place - y.place) LIMIT 5"
			if wrong := w.query(t, fmt.Sprintf(otherwise, collation)); len(wrong) > 0 {
				t.Errorf("the server compares pairs of texts, at these places, in another way: %v", wrong)
			}
			if place < 100 {
				t.Errorf("only %d different texts", place)
			}
		})
	}
}

// MySQL 8 has no weights by level. Its collations do without, and MariaDB's of
// the same names are made the same way.
func TestTextNeedsNoLevels(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE texts (v VARCHAR(20))")
	s := w.open(t)
	schema, err := s.schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, collation := range []string{"utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_turkish_ci"} {
		q, err := s.plan(t.Context(), schema, catalog.Scan{Table: "texts", Order: []catalog.Order{{Column: "v", Collation: collation}}}, true)
		if err != nil || strings.Contains(q.statement, "LEVEL") {
			t.Errorf("%s: %v, %v", collation, q, err)
		}
	}
}

// The forms do not depend on how wide a column is, nor on its character set.
func TestTextFormIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t,
		"CREATE TABLE narrow (v VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY)",
		"CREATE TABLE wide (v VARCHAR(200) COLLATE utf8mb4_bin PRIMARY KEY)",
		"CREATE TABLE fixed (v CHAR(30) CHARACTER SET latin1 PRIMARY KEY)",
		"CREATE TABLE mb3 (v TINYTEXT CHARACTER SET utf8mb3)")
	tables := []string{"narrow", "wide", "fixed", "mb3"}
	for _, table := range tables {
		w.exec(t, "INSERT INTO "+table+" VALUES ('Zoë '), ('ana')")
	}
	s := w.open(t)
	for _, collation := range textCollations {
		if collation == refused || !w.knows(t, collation) {
			continue
		}
		var want []row
		for i, table := range tables {
			scan := catalog.Scan{Table: table, Order: []catalog.Order{{Column: "v", Collation: collation}}}
			got := mustCollect(t, s.Scan(t.Context(), scan))
			if strings.Contains(collation, "nopad") && table == "fixed" {
				continue // CHAR has no space at its end
			}
			if i == 0 {
				want = got
			} else if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s has %x, narrow has %x", collation, table, got, want)
			}
		}
	}
}

// A text in more characters compares with one in utf8mb3 as that does, and what utf8mb3 lacks is no other character of it.
func TestTextUnderUTF8MB3(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE mb3 (v VARCHAR(20) CHARACTER SET utf8mb3)", "CREATE TABLE mb4 (v VARCHAR(20))", "CREATE TABLE l1 (v VARCHAR(20) CHARACTER SET latin1)")
	for _, table := range []string{"mb3", "mb4", "l1"} {
		w.exec(t, "INSERT INTO "+table+" VALUES ('Zoë '), ('ana'), ('?')")
	}
	w.exec(t, "CREATE TABLE more (v VARCHAR(20))", "INSERT INTO more VALUES (x'f09f9089')")
	s := w.open(t)
	for _, collation := range []string{"utf8mb3_general_ci", "utf8mb3_unicode_ci", "utf8mb3_unicode_520_ci", "utf8mb3_danish_ci"} {
		read := func(table string) []row {
			return mustCollect(t, s.Scan(t.Context(), catalog.Scan{Table: table, Order: []catalog.Order{{Column: "v", Collation: collation}}}))
		}
		want := read("mb3")
		for _, table := range []string{"mb4", "l1"} {
			if got := read(table); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s has %x, mb3 has %x", collation, table, got, want)
			}
		}
		if dragon := fmt.Sprint(read("more")[0]); slices.ContainsFunc(want, func(r row) bool { return fmt.Sprint(r) == dragon }) {
			t.Errorf("%s: a dragon is one of %x", collation, want)
		}
	}
}

func TestTextUnsupported(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE texts (v VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1)", "INSERT INTO texts VALUES ('a', 'a')")
	s := w.open(t)
	for _, tt := range []struct {
		column, collation string
		ok                bool
	}{
		{"l", "latin1_swedish_ci", true},
		{"l", "latin1_bin", true},
		{"l", "utf8mb4_bin", true},
		{"v", "latin1_swedish_ci", false}, // would lose characters
		{"v", "utf8mb3_general_ci", true}, // as utf8mb4_general_ci
		{"l", "utf8mb3_unicode_ci", true},
		{"v", "utf8mb3_bin", false}, // whose weights are others
		{"v", "utf8mb4_no_such_ci", false},
		{"v", "NOCASE", false},
		{"v", "binary", false},
		{"v", "utf8mb4_bin; DROP TABLE texts", false},
	} {
		_, err := collect(s.Scan(t.Context(), catalog.Scan{Table: "texts", Order: []catalog.Order{{Column: tt.column, Collation: tt.collation}}}))
		if u, ok := asUnsupported(err); ok == tt.ok || ok && (u.Table != "texts" || u.Reason == "") {
			t.Errorf("%s under %s: got error %v", tt.column, tt.collation, err)
		}
	}
}

// SQLite's own comparison of two texts is that of their forms, for all short
// texts of characters that its collations treat differently.
func TestTextComparesAsSQLiteDoes(t *testing.T) {
	t.Parallel()
	w := newSQLiteWorld(t)
	w.db.SetMaxOpenConns(1)
	texts, last := []string{""}, []string{""}
	for range 3 {
		var longer []string
		for _, text := range last {
			for _, c := range []string{"a", "A", " ", "\x00", "[", "é"} {
				longer = append(longer, text+c)
			}
		}
		texts, last = append(texts, longer...), longer
	}
	w.exec(t, "CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, v TEXT)", "BEGIN")
	for i, text := range texts {
		w.exec(t, fmt.Sprintf("INSERT INTO texts VALUES (%d, CAST(x'%x' AS TEXT))", i, text))
	}
	w.exec(t, "COMMIT")
	for _, collation := range []string{"BINARY", "NOCASE", "RTRIM"} {
		forms := make([][]byte, len(texts))
		for i, text := range texts {
			form, err := sqliteText(collation)([]byte("before"), text)
			if err != nil || !bytes.HasPrefix(form, []byte("before")) {
				t.Fatalf("%q: %q, %v", text, form, err)
			}
			forms[i] = form
		}
		rows, err := w.db.QueryContext(t.Context(), "SELECT x.id, y.id, (x.v COLLATE "+collation+" > y.v) - (x.v COLLATE "+collation+" < y.v) FROM texts AS x JOIN texts AS y")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			var x, y, want int
			if err := rows.Scan(&x, &y, &want); err != nil {
				t.Fatal(err)
			}
			if got := bytes.Compare(forms[x], forms[y]); got != want {
				t.Fatalf("%s: %q and %q compare %d, want %d", collation, texts[x], texts[y], got, want)
			}
		}
		if err := rows.Err(); err != nil || n != len(texts)*len(texts) {
			t.Fatalf("%d rows, %v", n, err)
		}
		rows.Close()
	}
}

// A whole scan under each of SQLite's collations, the column's own and others.
func TestScanTextSQLite(t *testing.T) {
	t.Parallel()
	w := newSQLiteWorld(t)
	w.exec(t, "CREATE TABLE texts (v TEXT COLLATE NOCASE, own TEXT)", "CREATE INDEX by_v ON texts (v)",
		"INSERT INTO texts VALUES ('b', 'x'), ('A', 'x'), ('a  ', 'x'), ('B ', 'x'), (NULL, 'x'), ('É', 'x')")
	s := w.open(t)
	for collation, want := range map[string][]string{
		"":       {"NULL", "a", "a  ", "b", "b ", "É"},
		"nocase": {"NULL", "a", "a  ", "b", "b ", "É"},
		"BINARY": {"NULL", "A", "B ", "a  ", "b", "É"},
		"RTRIM":  {"NULL", "A", "B", "a", "b", "É"},
	} {
		var got []string
		for _, r := range mustCollect(t, s.Scan(t.Context(), catalog.Scan{Table: "texts", Order: []catalog.Order{{Column: "v", Collation: collation}}})) {
			if r.order[0] == nil {
				r.order[0] = []byte("NULL")
			}
			got = append(got, string(r.order[0]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", collation, got, want)
		}
	}
	for _, collation := range []string{"unicode", "utf8mb4_bin", "NOCASE; DROP TABLE texts"} {
		_, err := collect(s.Scan(t.Context(), catalog.Scan{Table: "texts", Order: []catalog.Order{{Column: "v", Collation: collation}}}))
		if _, ok := asUnsupported(err); !ok {
			t.Errorf("%q: got error %v", collation, err)
		}
	}
}
