package databases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/config"
)

func TestNameDSNs(t *testing.T) {
	args := []string{
		"s1",
		"sqlite:data/s2.db",
		"mysql:u:s3cret@tcp(db1:3306)/game_s3",
		"mysql:u:s3cret@tcp(db1)/game",
		"mysql:u:s3cret@tcp(db2:3307)/game",
		"mysql:u:s3cret@unix(/run/m.sock)/x",
		"mysql:u:s3cret@wrong",
		"postgres://u:s3cret@db/game",
		"sqlite:s1",
		"sqlite:game:s3cret@tcp(db1:3306)/s1",
		"sqlite:x.db?password=s3cret",
		"mysql:g@tcp(h:1)/a:s3cret",
		"mysql:g:pw@tcp(h:1)/a;password=s3cret",
	}
	want := []string{"s1", "data/s2.db", "game_s3", "db1:3306/game", "db2:3307/game", "x", "mysql:*** (database 7)", "postgres:***", "sqlite:s1", "sqlite:*** (database 10)", "sqlite:*** (database 11)",
		"mysql:*** (database 12)", "mysql:*** (database 13)"}
	var places []Place
	for _, arg := range args {
		places = append(places, Place{Arg: arg, Name: arg})
	}
	nameDSNs(places)
	full := []string{"s1", "sqlite:data/s2.db", "db1:3306/game_s3", "db1:3306/game", "db2:3307/game", "/run/m.sock/x", "mysql:*** (database 7)", "postgres:***", "sqlite:s1", "sqlite:*** (database 10)", "sqlite:*** (database 11)",
		"mysql:*** (database 12)", "mysql:*** (database 13)"}
	var got, gotFull []string
	for _, p := range places {
		got, gotFull = append(got, p.Name), append(gotFull, p.FullName())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(full, gotFull); diff != "" {
		t.Error(diff)
	}
}

// One database is found under two names, whatever the DSNs look like.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.db", "b.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"sqlite:none.db", "sqlite:none.db", true},
		{"sqlite:" + dir + "/a.db", "sqlite:" + dir + "/./a.db", true},
		{"sqlite:" + dir + "/a.db", "sqlite:" + dir + "/b.db", false},
		{"sqlite:" + dir + "/none.db", "sqlite:none.db", false},
		{"mysql:u:p@tcp(db)/x", "mysql:other:pw@tcp(db:3306)/x?tls=true", true},
		{"mysql:u:p@tcp(db)/x", "mysql:u:p@tcp(db)/y", false},
		{"mysql:u:p@tcp(db)/x", "mysql:u:p@tcp(db:3307)/x", false},
		{"mysql:nonsense", "mysql:other", false},
	} {
		err := Distinct([]Place{{Name: "a", DSN: config.NewSecret(test.a)}, {Name: "other", DSN: config.NewSecret("sqlite:other.db")}, {Name: "b", DSN: config.NewSecret(test.b)}})
		if (err != nil) != test.same || err != nil && !strings.Contains(err.Error(), `"a" and "b" are the same database`) {
			t.Errorf("%s and %s: %v", test.a, test.b, err)
		}
	}
}
