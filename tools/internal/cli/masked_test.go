package cli

import (
	"fmt"
	"strings"
	"testing"

	_ "mergesafe/internal/sqldb/mysql"
	_ "mergesafe/internal/sqldb/sqlite"
)

var flags = []string{"config", "rules", "propose", "allow", "log"}

// A message still names what was typed if that is not a DSN in the wrong place.
func TestShown(t *testing.T) {
	for _, word := range []string{
		"night.toml", "../plans/s1 - old.json", "s1's.json", "sqlite:data/s1.db", "w1", "w{1..40}", "w*",
		"key-colision:items.owner", "key-collision",
		"127.0.0.1:8080", "[::1]:8080", ":8080", "03:00", "2026-11-21T03:09:08.413Z", "characters.guid", "`a.b`.c",
		"00ddcdf82a000007002f", "-5m", "-1",
		"-propse", "-json", "s1,s2", "世界.db", "",
	} {
		message := fmt.Sprintf("open %s: %q is not known", word, word)
		if got := newMask([]string{word}, flags).Text(message); got != message {
			t.Errorf("%q: %s", word, got)
		}
	}
}

// Of a word that may have a password, only the prefix or the name of the parameter is shown, however the
// message quotes it.
func TestHidden(t *testing.T) {
	for word, want := range map[string]string{
		"sqlite:x.db?password=PW": "sqlite:***", "mysql:g:PW@h": "mysql:***", "-pPW": "-p***", "-x=PW;y": "-x=***",
		"PW=PW": "PW=***", "password=PW": "password=***",
		"Server=h;Pwd=PW": "Server=***", "oracledb://u:PW@h/a": "***", "password PW": "***",
		"mysql:g:PW@tcp(h:1)/a": "mysql:g:***@tcp(h:1)/a",
	} {
		m := newMask([]string{"a", word}, flags)
		for _, message := range []string{"open %s: no such file", "open %s.part: x", "unknown: %q", "unknown: %.9q",
			"run '%s'"} {
			got := m.Text(fmt.Sprintf(message, word))
			if shown := MaskedWord(word); !strings.Contains(got, want) && !strings.Contains(got, shown) ||
				strings.Contains(strings.ReplaceAll(got, "PW=***", ""), "PW") {
				t.Errorf("%s %q: %s, want %s", message, word, got, want)
			}
		}
	}
	advice := `want "sqlite:" and the path of a file, or "mysql:" and user:password@tcp(host:port)/database`
	if got := newMask([]string{"mysq:g:PW@tcp(h:1)/a", "mysql:g:PW@tcp(h:1)/b"}, flags).Text(advice); got != advice {
		t.Errorf("what hides nothing was changed: %s", got)
	}
	m := newMask([]string{"-config=x;Pwd=PW", "-rules", "a.toml,b.toml;Pwd=PW"}, flags)
	for message, want := range map[string]string{
		"open x;Pwd=PW: no such file": "open ***: no such file", "open b.toml;Pwd=PW": "open ***",
		"-config is a flag": "-config is a flag",
	} {
		if got := m.Text(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}
