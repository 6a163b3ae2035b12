package naming

import "testing"

func TestHint(t *testing.T) {
	known := []string{"number", "name", "listen", "dsn", "dsn_env"}
	for _, tt := range []struct{ given, want string }{
		{"numbr", "number"},
		{"nubmer", "number"},
		{"Number", "number"},
		{"nmae", "name"},
		{"dns", "dsn"},
		{"dsnenv", "dsn_env"},
		{"lsiten", "listen"},
		{"password", ""},
		{"", ""},
		{"x", ""},
	} {
		want := ""
		if tt.want != "" {
			want = ` (did you mean "` + tt.want + `"?)`
		}
		if got := Hint(tt.given, known); got != want {
			t.Errorf("Hint(%q) = %q; want %q", tt.given, got, want)
		}
	}
	if got := Hint("anything", nil); got != "" {
		t.Errorf("with nothing known: got %q", got)
	}
}
