package rulefile

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/config"
)

func fleetOf(text string) (Fleet, error) {
	var r Rules
	_, err := config.Parse("config.toml", text, r.ConfigReader("config.toml"))
	return r.Fleet, err
}

func TestFleet(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"[fleet]\nplayers = 'characters'\n": `1: fleet.active is missing: want the column of the player's last visit, such as active = "logout_time"`,
		"[fleet]\nactive = 'x'\n":           `1: fleet.players is missing: want the name of a table, such as players = "characters"`,
		"[fleet]\nplayers = 'c'\nactive = 't'\nactve = 't'\n":      `4: unknown key actve (did you mean "active"?): [fleet] has players, active, names, accounts`,
		"[fleet]\nplayers = 'c'\nactive = 't'\nnames = ['name']\n": `4: fleet.names has "name" in it: want "table.column"`,
		"[[fleet]]\nplayers = 'c'\n":                               `1: fleet can be there only once: want [fleet], not [[fleet]]`,
		"[fleet]\nplayers = 'c'\nactive = 7\n":                     `3: fleet.active is an integer: want text in quotes`,
	} {
		f, err := fleetOf(text)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "config.toml:")
		}
		if got != want || f.Players != "" && err == nil {
			t.Errorf("%q: got %+v, %q; want %q", text, f, got, want)
		}
	}
}

// What the sample has to be uncommented is right.
func TestSampleFleet(t *testing.T) {
	text, err := os.ReadFile("../../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?m)^# \[fleet\]\n(# [a-z]+ *= .*\n)+`).FindString(string(text))
	f, err := fleetOf(regexp.MustCompile(`(?m)^# `).ReplaceAllString(section, ""))
	want := Fleet{"characters", "logout_time", []string{"characters.name"}, "accounts.login"}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("got %+v, %v in:\n%s", f, err, section)
	}
}
