package main

import (
	"strings"
	"testing"

	"mergesafe/internal/columns"
	"mergesafe/internal/config"
	"mergesafe/tools/internal/databases"
)

// Codes and the comments of grants fit the terminal. A statement stays on one line.
func TestListsFitTheTerminal(t *testing.T) {
	const width = 80
	var codes, plain, grants strings.Builder
	places := []databases.Place{
		{Name: "a_rather_long_name_of_a_world", DSN: config.NewSecret("mysql:checker:s3cret@tcp(127.0.0.1:1)/game_of_the_northern_hemisphere")},
		{Name: strings.Repeat("long ", 20), DSN: config.NewSecret("sqlite:x.db")},
	}
	if err := writeCodes(&codes, width); err != nil {
		t.Fatal(err)
	}
	if err := writeCodes(&plain, 0); err != nil {
		t.Fatal(err)
	}
	if err := writeGrants(&grants, width, places); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(codes.String() + grants.String()) {
		line = strings.TrimRight(line, "\n")
		if columns.Width(line) > width && !strings.Contains(line, "GRANT ") {
			t.Errorf("%d columns: %s", columns.Width(line), line)
		}
	}
	if got, want := strings.Join(strings.Fields(codes.String()), " "), strings.Join(strings.Fields(plain.String()), " "); got != want {
		t.Errorf("words of codes are lost:\n%s", codes.String())
	}
	want := "-- a_rather_long_name_of_a_world:\nGRANT SELECT ON `game\\_of\\_the\\_northern\\_hemisphere`.* TO 'checker'@'%';\n"
	if !strings.HasPrefix(grants.String(), want) {
		t.Errorf("got\n%swant\n%s", grants.String(), want)
	}
}
