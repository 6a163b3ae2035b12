package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestPublicKeys(t *testing.T) {
	const allZeros = `is all zeros, which anybody can guess: draw one with "openssl rand -hex 16"`
	a, b, c := strings.Repeat("0a", 16), strings.Repeat("Bb", 24), strings.Repeat("c0", 32)
	section := func(version int, key string) string {
		return fmt.Sprintf("[[public_id]]\nversion = %d\n%s\n", version, key)
	}
	for _, tt := range []struct {
		text, want, wantErr string
		env                 map[string]string
	}{
		// No section: the environment, or nothing.
		{want: ""},
		{env: map[string]string{PublicKeyEnv: a}, want: "1:" + a},
		{env: map[string]string{PublicKeyEnv: ""}, wantErr: "config: the environment variable PUBLIC_ID_KEY is empty"},
		{env: map[string]string{PublicKeyEnv: "hunter2"}, wantErr: "config: the environment variable PUBLIC_ID_KEY holds no key: " + wantKey},

		// Sections: in their order, and the environment does not count.
		{text: section(1, "key = '"+a+"'"), want: "1:" + a},
		{text: section(2, "key = '"+b+"'") + section(1, "key = '"+a+"'") + section(999, "key = '"+c+"'"), want: "2:" + b + " 1:" + a + " 999:" + c,
			env: map[string]string{PublicKeyEnv: c}},
		{text: section(2, "key_env = 'TWO'") + section(1, "key = '"+a+"'"), env: map[string]string{"TWO": b}, want: "2:" + b + " 1:" + a},
		{text: section(2, "key_env = 'TWO'") + section(1, "key = '"+a+"'"), wantErr: "c.toml:3: public_id.key_env names the environment variable TWO, which is not set"},
		{text: section(2, "key_env = 'TWO'"), env: map[string]string{"TWO": "hunter2"}, wantErr: "c.toml:3: public_id.key_env names the environment variable TWO, which holds no key: " + wantKey},
		{text: section(2, "key_env = 'TWO'") + section(1, "key = '"+a+"'"), env: map[string]string{"TWO": strings.ToUpper(a)},
			wantErr: "c.toml:6: public_id.key is the same key as that of version 2: want another one for every version"},

		// A key that is no secret.
		{env: map[string]string{PublicKeyEnv: strings.Repeat("0", 32)}, wantErr: "config: the environment variable PUBLIC_ID_KEY holds a key that " + allZeros},
		{text: section(2, "key = '"+strings.Repeat("0", 64)+"'"), wantErr: "c.toml:3: public_id.key " + allZeros},
		{text: section(1, "key = '"+a+"'") + section(2, "key_env = 'TWO'"), env: map[string]string{"TWO": strings.Repeat("0", 48)}, wantErr: "c.toml:6: public_id.key_env " + allZeros},
	} {
		parsed, err := Parse("c.toml", tt.text)
		if err != nil {
			t.Fatalf("%q: %v", tt.text, err)
		}
		keys, err := parsed.PublicKeys(env(tt.env))
		var got []string
		for _, k := range keys {
			got = append(got, fmt.Sprintf("%d:%x", k.Version, k.Key.Reveal()))
		}
		if strings.Join(got, " ") != strings.ToLower(tt.want) || (err == nil) != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
			t.Errorf("%q with %v: got %v, %v; want %s, %s", tt.text, tt.env, got, err, tt.want, tt.wantErr)
		}
	}
}
