package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestSecretNeverPrints(t *testing.T) {
	const text = "mysql:root:hunter2@tcp(db)/s1"
	s := NewSecret(text)
	type inside struct {
		Exported   Secret
		unexported Secret
		pointer    *Secret
	}
	c, err := Parse("c.toml", "[registry]\ndsn = '"+text+"'\n[[source]]\nname = 'a'\ndsn = '"+text+"'")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{s, &s, []Secret{s}, map[string]Secret{"k": s}, inside{s, s, &s}, &inside{s, s, &s}, c, *c, c.Registry, c.Sources} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p"} {
			reject(t, verb, fmt.Sprintf(verb, v))
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Errorf("JSON: %v", err)
		}
		reject(t, "JSON", string(j))
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("JSON", "v", v)
		reject(t, "slog", b.String())
	}
	if j, err := json.Marshal(s); err != nil || string(j) != `"`+redacted+`"` {
		t.Errorf("JSON: %s, %v; want it to say that something is there", j, err)
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(inside{Exported: s}); err != nil {
		t.Error(err)
	}
	reject(t, "TOML", b.String())
	reject(t, "String", s.String())

	if s.Reveal() != text || s.IsZero() {
		t.Error("Reveal does not give the text")
	}
	if got := fmt.Sprintf("%v %#v %s %d", s, s, s, s); got != strings.TrimSpace(strings.Repeat(redacted+" ", 4)) {
		t.Errorf("printed as %s", got)
	}
}

// reject fails the test if what was printed has a part of the secret, also in hexadecimal.
func reject(t *testing.T, how, printed string) {
	t.Helper()
	for _, part := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"), fmt.Sprintf("%X", "hunter2"), "104 117 110"} {
		if strings.Contains(printed, part) {
			t.Errorf("%s has the secret: %s", how, printed)
		}
	}
}

func TestZeroSecret(t *testing.T) {
	var s Secret
	if !s.IsZero() || s.Reveal() != "" || fmt.Sprint(s) != "" || !NewSecret("").IsZero() {
		t.Errorf("the zero Secret: %q, prints %q; want it empty", s.Reveal(), fmt.Sprint(s))
	}
}
