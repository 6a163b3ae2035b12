package gameid_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"

	"mergesafe/gameid"
)

// Hero is as the database has it, PublicHero as everybody may see it.
type Hero struct {
	ID   gameid.Of[Hero]
	Name string
}

type PublicHero struct {
	ID   gameid.Opaque[Hero] `json:"id"`
	Name string              `json:"name"`
}

// The server gives sealed IDs out, and gets the real ones back from the path
// of a request.
func ExampleCipher() {
	// From the configuration. Draw yours at random.
	secret, err := hex.DecodeString("2b7e151628aed2a6abf7158809cf4f3c")
	if err != nil {
		panic(err)
	}
	heroes, err := gameid.NewCipher[Hero](secret, "hero")
	if err != nil {
		panic(err)
	}

	hero := Hero{ID: gameid.As[Hero](gameid.MustParse("02a1d5c3f7b0000c01f4")), Name: "Ada"}
	text, err := json.Marshal(PublicHero{ID: heroes.Seal(hero.ID), Name: hero.Name})
	fmt.Println(string(text), err)

	sealed, err := gameid.ParseOpaque[Hero](path.Base("/heroes/c3beb2965346a74a65fa"))
	if err != nil {
		panic(err)
	}
	id, err := heroes.Open(sealed)
	fmt.Println(id, err)

	// Output:
	// {"id":"c3beb2965346a74a65fa","name":"Ada"} <nil>
	// 02a1d5c3f7b0000c01f4 <nil>
}

// After a change of the secret, old links go on to work for as long as their
// version is served.
func ExampleCipher_versions() {
	heroes := make(map[string]gameid.Cipher[Hero])
	for version, secret := range map[string]string{
		"v1": "2b7e151628aed2a6abf7158809cf4f3c",
		"v2": "ef4359d8d580aa4f7f036d6f04fc6a94",
	} {
		key, err := hex.DecodeString(secret)
		if err != nil {
			panic(err)
		}
		if heroes[version], err = gameid.NewCipher[Hero](key, "hero"); err != nil {
			panic(err)
		}
	}

	for _, request := range []struct{ version, id string }{
		{"v1", "c3beb2965346a74a65fa"},
		{"v2", "580c11117e1f8ad4f406"},
		{"v3", "580c11117e1f8ad4f406"},
	} {
		cipher, ok := heroes[request.version]
		if !ok {
			fmt.Println(request.version, "is not served")
			continue
		}
		sealed, err := gameid.ParseOpaque[Hero](request.id)
		if err != nil {
			panic(err)
		}
		id, err := cipher.Open(sealed)
		fmt.Println(request.version, id, err)
	}

	// Output:
	// v1 02a1d5c3f7b0000c01f4 <nil>
	// v2 02a1d5c3f7b0000c01f4 <nil>
	// v3 is not served
}
