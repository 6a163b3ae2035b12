package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/columns"
	"mergesafe/merge"
	"mergesafe/merge/keys"
)

// Where a key came from, and renames, fit a narrow terminal, and lose no word.
func TestAnswersAreWrapped(t *testing.T) {
	way := []merge.Origin{{Source: "the northern world", Table: "characters", Old: keys.Integer{Bits: 7}, New: keys.Integer{Bits: 1_000_007}, Merge: "0123456789abcdef"}}
	renames := &merge.Plan{ID: "id", Names: 1, Renames: []merge.Rename{{Source: "s2", Table: "players", Column: "name", Key: `["i7"]`, Old: "一区的名字 Eva", New: "一区的名字 Eva of the North"}}}
	const width = 50
	write := func(width int) (text string) {
		var b strings.Builder
		if err := WriteWhois(&b, TextOptions{Width: width}, "s1", "", "characters", keys.Integer{Bits: 1_000_007}, way); err != nil {
			t.Fatal(err)
		}
		if err := WriteFates(&b, TextOptions{Width: width}, renames, "servermerge status plan.json"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	wrapped := write(width)
	for line := range strings.Lines(wrapped) {
		if n := columns.Width(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got, want := strings.Fields(wrapped), strings.Fields(write(0)); strings.Join(got, " ") != strings.Join(want, " ") || len(want) < 20 {
		t.Errorf("got %s", wrapped)
	}
}

// Renames are written in full wherever they are asked for.
func TestFates(t *testing.T) {
	p := &merge.Plan{Names: 2, Worlds: []merge.World{{Name: "s1"}, {Name: "s2"}, {Name: "s3"}}, Renames: []merge.Rename{
		{Source: "s2", Table: "players", Column: "name", Key: `["b00ddceac5bd00007003f"]`, Old: "Eva", New: "Eva.s2"},
		{Source: "s1", Table: "players", Column: "name", Key: `["t457661","i7"]`, Old: `=a,"b"`, New: "<c>"},
	}}
	var text, list strings.Builder
	fates := ListFates(func(each func(merge.Fate) error) error { return merge.EachFate(p, each) })
	if err := errors.Join(WriteFates(&text, TextOptions{}, p, ""), fates.CSV(&list)); err != nil {
		t.Fatal(err)
	}
	if want := "2 renames\n  name of players 00ddceac5bd00007003f in s2: \"Eva\" becomes \"Eva.s2\"\n  name of players Eva/7 in s1: \"=a,\\\"b\\\"\" becomes \"<c>\"\n"; text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
	if want := "old_world,new_world,table,column,old_key,new_key,old_name,new_name,stays\ns2,s1,players,name,00ddceac5bd00007003f,,Eva,Eva.s2,\ns1,s1,players,name,Eva/7,Eva/7,\"'=a,\"\"b\"\"\",<c>,\n"; list.String() != want {
		t.Errorf("got\n%swant\n%s", &list, want)
	}
}

// No name is a formula to a program for tables, and JSON has it as it is.
func TestFatesFormats(t *testing.T) {
	all := []merge.Fate{
		{OldWorld: "w2", NewWorld: "w1", Table: "heroes", Column: "name", OldName: "=cmd|' /C calc'!A0", NewName: "@x", OldKey: "-5", NewKey: "1"},
		{OldWorld: "w2", NewWorld: "w1", OldName: "a\"b,\nc", NewName: "-2+3", OldKey: "\tx", Stays: "=why"},
	}
	var asCSV, asJSON strings.Builder
	list := ListFates(func(each func(merge.Fate) error) (err error) {
		for _, f := range all {
			err = errors.Join(err, each(f))
		}
		return err
	})
	if err := errors.Join(list.CSV(&asCSV), list.JSON(&asJSON)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(asCSV.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"w2", "w1", "heroes", "name", "-5", "1", "'=cmd|' /C calc'!A0", "'@x", ""},
		{"w2", "w1", "", "", "'\tx", "", "a\"b,\nc", "'-2+3", "'=why"},
	}
	if diff := cmp.Diff(want, rows[1:]); diff != "" {
		t.Error(diff)
	}
	var got struct {
		Version int
		Rows    []merge.Fate
	}
	if err := json.Unmarshal([]byte(asJSON.String()), &got); err != nil || got.Version != documentVersion {
		t.Fatal(err, got.Version)
	}
	if diff := cmp.Diff(all, got.Rows); diff != "" {
		t.Error(diff)
	}
}
