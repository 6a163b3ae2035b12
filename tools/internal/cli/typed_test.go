package cli

import "testing"

// Words come from plans too, which may be somebody else's: none of them is more than a word.
func TestLine(t *testing.T) {
	got := Line([]string{"servermerge", "plan; rm -rf ~", "-rules", "my rules.toml", "-fleet", FleetDSN, "-into", NewDSN, "$(id)", "`id`", ""})
	if want := `servermerge 'plan; rm -rf ~' -rules 'my rules.toml' -fleet "$FLEET_DSN" -into "$NEW_DSN" '$(id)' '` + "`id`" + `' ''`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
