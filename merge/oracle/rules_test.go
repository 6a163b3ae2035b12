package oracle

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/BurntSushi/toml"
)

// Rules are a file of rules, in the words of docs/words.md. The reference reads it as JSON, people read it as TOML.
type Rules struct {
	Rekey bool  `json:"rekey,omitempty"` // the word rekey
	Check Check `json:"check"`
	Merge Moves `json:"merge"`
}

type Check struct {
	Plain     []string    `json:"plain,omitempty"`
	Shared    []string    `json:"shared,omitempty"`
	Reference []Reference `json:"reference,omitempty"`
}

type Reference struct {
	To       any      `json:"to"` // one, or a list
	At       []string `json:"at"`
	None     []string `json:"none,omitempty"`
	Dangling []string `json:"dangling,omitempty"`
	When     *When    `json:"when,omitempty"`
	Others   string   `json:"others,omitempty"`
	Format   string   `json:"format,omitempty"`
	Gone     string   `json:"gone,omitempty"`
	By       string   `json:"by,omitempty"`
}

type When struct {
	Column string   `json:"column"`
	Is     []string `json:"is,omitempty"`
	Not    []string `json:"not,omitempty"`
}

type Moves struct {
	Space   []Space   `json:"space,omitempty"`
	Counter []Counter `json:"counter,omitempty"`
	Name    []Name    `json:"name,omitempty"`
	Table   []Policy  `json:"table,omitempty"`
	Leave   []Leave   `json:"leave,omitempty"`
}

type Space struct {
	Name   string   `json:"name,omitempty"`
	Keys   []string `json:"keys,omitempty"`
	Keep   string   `json:"keep,omitempty"`
	Max    int64    `json:"max,omitempty"`
	Offset any      `json:"offset,omitempty"` // int64: a multiple of it; map[string]int64: of each source
	Match  []string `json:"match,omitempty"`
}

type Counter struct {
	At     string `json:"at"`
	When   *When  `json:"when,omitempty"`
	To     string `json:"to"`
	Others string `json:"others,omitempty"`
}

type Name struct {
	At       string            `json:"at"`
	Template string            `json:"template,omitempty"`
	Keep     string            `json:"keep,omitempty"`
	By       string            `json:"by,omitempty"`
	Max      int               `json:"max,omitempty"`
	None     []string          `json:"none,omitempty"`
	Set      map[string]string `json:"set,omitempty"`
}

type Policy struct {
	Tables   []string          `json:"tables"`
	Policy   string            `json:"policy,omitempty"`
	Set      map[string]string `json:"set,omitempty"`
	Renumber *Renumber         `json:"renumber,omitempty"`
}

type Renumber struct {
	Column string   `json:"column"`
	Within []string `json:"within"`
	From   *int64   `json:"from,omitempty"`
	Max    *int64   `json:"max,omitempty"`
}

type Leave struct {
	Table string `json:"table"`
	Where string `json:"where,omitempty"`
	Best  *Best  `json:"best,omitempty"`
	Fewer *Fewer `json:"fewer,omitempty"`
}

type Best struct {
	Of   string   `json:"of"`
	Keep int      `json:"keep"`
	By   []string `json:"by"`
}

type Fewer struct {
	Of   string `json:"of"`
	Than int    `json:"than"`
}

// text writes the rules as an operator does.
func (r *Rules) text(t testing.TB) string {
	t.Helper()
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(encoded))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	delete(all, "rekey")
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(all); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
