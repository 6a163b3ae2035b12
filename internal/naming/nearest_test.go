package naming

import "testing"

func TestName(t *testing.T) {
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
		if got, _ := Nearest(tt.given, known); got != tt.want {
			t.Errorf("Name(%q) = %q; want %q", tt.given, got, tt.want)
		}
	}
	if got, ok := Nearest("anything", nil); ok {
		t.Errorf("with nothing known: got %q", got)
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("nmae", []string{"name"}), ` (did you mean "name"?)`; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	if got := Hint("password", []string{"name"}); got != "" {
		t.Errorf("got %q; want nothing", got)
	}
}
