package campaign

import (
	"testing"

	"mergesafe/internal/sqldb"
)

// Names do not grow if the result of one merge is merged again.
func TestNewAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, world, now, want string }{
		{"{first}_m{n}", "game_s1", "mysql:tcp(h:1)/game_s1?tls=true", "mysql:tcp(h:1)/game_s1_m2?tls=true"},
		{"{first}_m{n}", "game_s1", "mysql:tcp(h:1)/game_s1_m2", "mysql:tcp(h:1)/game_s1_m3"},
		{"{first}_m{n}", "game_s1_m2", "mysql:tcp(h:1)/game_s1_m2", "mysql:tcp(h:1)/game_s1_m3"},
		{"{first}_m{n}", "game_s1_m9", "sqlite:worlds/game_s1_m9.db", "sqlite:worlds/game_s1_m10.db"},
		{"game_{first}_m{n}", "s1", "sqlite:game_s1_m2.db", "sqlite:game_s1_m3.db"},
		{"{first}_m{n}", "s1", "sqlite:game_s1_m2.db", "sqlite:s1_m3.db"},
		{"{first}w{n}", "w12", "sqlite:w12.db", "sqlite:w12w2.db"},
		{"{first}_m{n}", "s1_mm", "sqlite:s1_mm.db", "sqlite:s1_mm_m2.db"},
		{"{first}_2027", "s1", "mysql:tcp(h:1)/s1_2026", "mysql:tcp(h:1)/s1_2027"},
		{"mysql:tcp(other:2)/{first}_m{n}?tls=true", "s1", "mysql:tcp(h:1)/s1_m4", "mysql:tcp(other:2)/s1_m5?tls=true"},
		{"sqlite:new/{first}/m{n}.db", "s1", "sqlite:old/m3.db", "sqlite:new/s1/m4.db"},
		{"season_m{n}", "s1", "sqlite:season_m7", "sqlite:season_m8"},
		{"{first}_m{n}", "s1", "mysql:tcp(h:1)/s1_m99999999999999999999", "mysql:tcp(h:1)/s1_m2"},
	} {
		if got := New(c.text, c.world, c.now); got != c.want {
			t.Errorf("%s of %s at %s: got %s, want %s", c.text, c.world, c.now, got, c.want)
		}
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dsn, account, address string }{
		{"mysql:u:p@ss/w@tcp(h:1)/db?a=b@c", "u:p@ss/w@", "mysql:tcp(h:1)/db?a=b@c"},
		{"mysql:tcp(h:1)/db", "", "mysql:tcp(h:1)/db"},
		{"mysql:u@unix(/run/x.sock)/db", "u@", "mysql:unix(/run/x.sock)/db"},
		{"sqlite:a@b.db", "", "sqlite:a@b.db"},
	} {
		account, address := sqldb.SplitAccount(c.dsn)
		if account != c.account || address != c.address || WithAccount(address, account) != c.dsn {
			t.Errorf("%s: got %q and %q", c.dsn, account, address)
		}
	}
}
