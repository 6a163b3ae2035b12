package databases

import (
	"context"
	"fmt"
	"testing"

	"mergesafe/internal/fleet"
	"mergesafe/internal/odddsn"
	"mergesafe/merge/world"
	"mergesafe/store"
)

// The name of a database, and the errors of all packages that open one, show no password of a DSN that
// is written wrongly. Two databases have two names, also if neither can be shown.
func TestSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, dsn := range odddsn.Each() {
		var errs [7]error
		c := NewConfig("none.toml", env(nil))
		places := []Place{{Arg: dsn, Name: dsn}, {Arg: dsn + " ", Name: dsn + " "}}
		nameDSNs(places)
		if places[0].isDSN() && (places[0].Name == places[1].Name || places[0].FullName() == places[1].FullName()) {
			t.Errorf("%q and the same with a space are both %q", dsn, places[0].Name)
		}
		shown := Where(dsn)
		for _, p := range places {
			if p.isDSN() {
				shown += fmt.Sprintln("", p.Name, p.FullName())
			}
		}
		_, errs[0] = c.DSN(dsn)
		_, errs[1] = c.Places([]string{dsn, dsn})
		_, errs[2] = c.Registry(dsn)
		_, errs[3] = store.Open(ended, dsn)
		_, errs[4] = store.OpenReadOnly(ended, dsn)
		_, errs[5] = world.OpenWith(ended, "w1", dsn, world.Options{})
		var f *fleet.Fleet
		if f, errs[6] = fleet.Open(dsn); errs[6] == nil {
			_, errs[6] = f.Places(ended)
			shown += fmt.Sprintf("%v %+v %#v", f, f, f)
			f.Close()
		}
		for _, err := range errs {
			shown += fmt.Sprintf("\n%v %+v %#v", err, err, err)
		}
		if part := odddsn.Shown(shown); part != "" {
			t.Errorf("%q is shown: ...%s...", dsn, part)
		}
	}
}
