package report

import (
	"io"
	"strings"
	"testing"

	"mergesafe/merge/transfer"
)

// Renames are written in full wherever they are asked for.
func TestRenames(t *testing.T) {
	p := &transfer.Plan{ID: "id", Names: 2, Renames: []transfer.Rename{
		{Source: "s2", World: "w2", Table: "players", Column: "name", Key: `["b00ddceac5bd00007003f"]`, Old: "Eva", New: "Eva.s2"},
		{Source: "s3", World: "w3", Table: "players", Column: "name", Key: `["t457661","i7"]`, Old: `=a,"b"`, New: "<c>"},
	}}
	for want, write := range map[string]func(*Renames, io.Writer) error{
		"source,world,table,column,key,old,new\ns2,w2,players,name,00ddceac5bd00007003f,Eva,Eva.s2\ns3,w3,players,name,Eva/7,\"=a,\"\"b\"\"\",<c>\n":             (*Renames).WriteCSV,
		"2 renames\n  name of players 00ddceac5bd00007003f in s2: \"Eva\" becomes \"Eva.s2\"\n  name of players Eva/7 in s3: \"=a,\\\"b\\\"\" becomes \"<c>\"\n": func(r *Renames, w io.Writer) error { return r.WriteText(w, TextOptions{}) },
	} {
		var b strings.Builder
		if err := write(NewRenames(p), &b); err != nil || b.String() != want {
			t.Errorf("%v; got\n%swant\n%s", err, &b, want)
		}
	}
	var b strings.Builder
	if err := NewRenames(&transfer.Plan{ID: "id"}).WriteJSON(&b); err != nil || b.String() != "{\n  \"version\": 1,\n  \"plan\": \"id\",\n  \"renames\": []\n}\n" {
		t.Errorf("%v: %s", err, &b)
	}
}
