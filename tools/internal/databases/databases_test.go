package databases

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
