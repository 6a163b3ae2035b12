package rulefile

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mergesafe/internal/config"
	"mergesafe/internal/strict"
	"mergesafe/merge/campaign"
)

var update = flag.Bool("update", false, "write docs/schema")

const schemas = "../../../docs/schema/"

// node is a part of a JSON Schema. Its words are those of draft 4, which is what editors of TOML take, and mean
// the same in draft 7.
type node struct {
	Schema               string           `json:"$schema,omitempty"`
	Title                string           `json:"title,omitempty"`
	Description          string           `json:"description,omitempty"`
	Type                 string           `json:"type,omitempty"`
	Enum                 []string         `json:"enum,omitempty"`
	Pattern              string           `json:"pattern,omitempty"`
	Minimum              *int64           `json:"minimum,omitempty"`
	Maximum              *int64           `json:"maximum,omitempty"`
	Items                *node            `json:"items,omitempty"`
	MinItems             int              `json:"minItems,omitempty"`
	Properties           map[string]*node `json:"properties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"`
	AnyOf                []*node          `json:"anyOf,omitempty"`
	OneOf                []*node          `json:"oneOf,omitempty"`
}

// describe returns what is said of a key, by its path.
type describe func(path []string) string

func (d describe) shape(s *strict.Shape, path []string) *node {
	n := &node{Type: "object", Properties: make(map[string]*node), AdditionalProperties: false}
	if s.Any != nil {
		n.AdditionalProperties = d.types(s.Any.Types, nil, path)
	}
	for _, k := range s.Keys {
		below := append(path[:len(path):len(path)], k.Name)
		of := d.types(k.Types, k.Words, below)
		if of.Description = d(below); k.Required {
			n.Required = append(n.Required, k.Name)
		}
		n.Properties[k.Name] = of
	}
	for _, key := range s.OneOf {
		n.OneOf = append(n.OneOf, &node{Required: []string{key}})
	}
	return n
}

func (d describe) types(all []strict.Type, words, path []string) *node {
	var nodes []*node
	for _, t := range all {
		nodes = append(nodes, d.one(t, words, path))
	}
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &node{AnyOf: nodes}
}

func (d describe) one(t strict.Type, words, path []string) *node {
	switch t.Kind {
	case "text":
		return &node{Type: "string", Enum: words, Pattern: t.Pattern}
	case "integer":
		n := &node{Type: "integer"}
		if t.Lowest != math.MinInt64 {
			n.Minimum = &t.Lowest
		}
		if t.Highest != math.MaxInt64 {
			n.Maximum = &t.Highest
		}
		return n
	case "list":
		return &node{Type: "array", Items: d.types(t.Items, words, path), MinItems: t.Least}
	case "table":
		return d.shape(t.Section, path)
	case "tables":
		return &node{Type: "array", Items: d.shape(t.Section, path)}
	}
	return &node{Type: t.Kind}
}

// commented is what the comments behind the keys of a text of TOML say, by section and key. What is commented
// out counts as well.
func commented(text string) map[string]string {
	all := make(map[string]string)
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "# ")
		if m := regexp.MustCompile(`^\[+([a-z_.]+)\]+$`).FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		if m := regexp.MustCompile(`^([a-z_]+) *= .* # (.+)$`).FindStringSubmatch(line); m != nil && all[section+"."+m[1]] == "" {
			all[section+"."+m[1]] = m[2]
		}
	}
	return all
}

// made are the schemas of the three kinds of files, by name.
func made(t *testing.T) map[string]*node {
	t.Helper()
	words := readWords(t)
	ofRules := func(path []string) string {
		if len(path) == 2 && (path[0] == "check" || path[0] == "merge") || len(path) == 1 {
			return words.lists[path[len(path)-1]].text
		}
		return words.inside[path[len(path)-1]].text
	}
	sample, err := os.ReadFile("../../../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	ofConfig := commented(string(sample))
	night := campaign.Campaign{
		Name: "summer", Parallel: 2, PerServer: 1, Allow: []string{"b"}, Room: campaign.ByHand,
		Window: &campaign.Window{To: time.Hour, Zone: time.UTC}, Merges: []campaign.Merge{{Worlds: []string{"a", "b"}}},
	}
	var text bytes.Buffer
	if _, err := night.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	ofCampaign := commented(text.String())
	var r Rules
	all := map[string]*node{
		"rules": describe(ofRules).shape(strict.ShapeOf(r.Reader("rules.toml")), nil),
		"config": describe(func(path []string) string {
			if path[0] == "check" || path[0] == "merge" {
				return ofRules(path)
			}
			return ofConfig[strings.Join(path, ".")]
		}).shape(config.Shape(r.ConfigReader("config.toml")), nil),
		"campaign": describe(func(path []string) string { return ofCampaign[strings.Join(path, ".")] }).shape(campaign.Shape(), nil),
	}
	for name, title := range map[string]string{"rules": "A file of rules", "config": "config.toml", "campaign": "A campaign file"} {
		all[name].Schema, all[name].Title = "http://json-schema.org/draft-07/schema#", title
	}
	return all
}

// The schemas in docs/schema are what the code reads, described by docs/words.md and the sample.
func TestSchemas(t *testing.T) {
	for name, n := range made(t) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(n); err != nil {
			t.Fatal(err)
		}
		file := schemas + name + ".json"
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		is, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.String(), string(is)); diff != "" {
			t.Errorf("%s: go test ./tools/internal/rulefile -run Schemas -update renews it (-want +is):\n%s", file, diff)
		}
	}
}

// validator returns what says whether a text has the form of a kind of files.
func validator(t *testing.T, name string) func(text string) error {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemas + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var values map[string]any
		if _, err := toml.Decode(text, &values); err != nil {
			return err
		}
		b, err := json.Marshal(values)
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return err
		}
		return s.Validate(v)
	}
}

// sorted out: the kinds of files, and what reads them.
var readers = map[string]func(text string) error{
	"rules": func(text string) error { return strict.Read("rules.toml", text, new(Rules).Reader("rules.toml")) },
	"config": func(text string) error {
		_, err := config.Parse("config.toml", text, new(Rules).ConfigReader("config.toml"))
		return err
	},
	"campaign": func(text string) error { _, err := campaign.Parse("campaign.toml", text); return err },
}

// kindOf is the kind of a file, by what it has.
func kindOf(text string) string {
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return ""
	}
	_, campaign := values["campaign"]
	for _, key := range []string{"source", "registry"} {
		if values[key] != nil {
			return "config"
		}
	}
	switch _, merges := values["merge"].([]map[string]any); {
	case campaign || merges:
		return "campaign"
	case values["check"] != nil || values["merge"] != nil || values["fleet"] != nil || values["schema"] != nil:
		return "rules"
	}
	return ""
}

// filesOfTOML are all texts of TOML in the repository that one of the readers is for: files, and those in scripts of tests.
func filesOfTOML(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, pattern := range []string{"profiles/*.toml", "config.toml", "internal/gameworlds/fleet/*.toml"} {
		files, err := filepath.Glob("../../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = string(text)
		}
	}
	scripts, err := filepath.Glob("../../*/testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		parts := regexp.MustCompile(`(?m)^-- (\S+\.toml) --\n`).FindAllStringSubmatchIndex(string(text), -1)
		ends := regexp.MustCompile(`(?m)^-- .* --\n`).FindAllStringIndex(string(text), -1)
		for _, part := range parts {
			end := len(text)
			for _, e := range ends {
				if e[0] >= part[1] {
					end = e[0]
					break
				}
			}
			all[script+"/"+string(text[part[2]:part[3]])] = string(text[part[1]:end])
		}
	}
	return all
}

// What a reader takes has the form of its schema.
func TestSchemasTakeFiles(t *testing.T) {
	count := make(map[string]int)
	for name, text := range filesOfTOML(t) {
		kind := kindOf(text)
		if kind == "" || readers[kind](text) != nil {
			continue
		}
		count[kind]++
		if err := validator(t, kind)(text); err != nil {
			t.Errorf("%s: the reader takes it, and docs/schema/%s.json does not: %v", name, kind, err)
		}
	}
	t.Log(count)
	for kind, least := range map[string]int{"rules": 30, "config": 20, "campaign": 5} {
		if count[kind] < least {
			t.Errorf("%d files of %s, want %d at least", count[kind], kind, least)
		}
	}
}

// What a reader refuses for its form alone is refused by the schema too.
func TestSchemasRefuse(t *testing.T) {
	for kind, texts := range map[string][]string{
		"rules": {
			"chekc = 1", "[check]\nplane = []", "[check]\nplain = 'a.b'", "[check]\nplain = [7]", "[check]\nplain = ['a']", "[[check]]\nplain = []",
			"[check]\nshared = [{ max = 4 }]", "[check]\nshared = [{ at = 'a.b', max = 0 }]", "[check]\nshared = [{ at = 'a.b', limit = 4 }]",
			"[[check.unique]]\nname = 'x'", "[[check.reference]]\nto = 'a.b'", "[[check.reference]]\nat = []\nto = 'a.b'",
			"[[check.reference]]\nat = ['a.b']\nto = 'a.b'\nnone = []", "[[check.reference]]\nat = ['a.b']\nto = 'a.b'\nnone = [1.5]",
			"[[check.reference]]\nat = ['a.b']\nto = 'a.b'\nwhen = { column = 'c' }", "[[check.reference]]\nat = ['a.b']\nto = 'a.b'\nwhen = { column = 'c', is = [1], not = [2] }",
			"[[check.reference]]\nat = ['a.b']\nto = 'a.b'\nwhen = { column = 'c', is = [1] }\nothers = 'plane'",
			"[merge.space]\nkeys = ['a.b']", "[[merge.space]]\nkeys = ['a.b']\noffset = true", "[[merge.space]]\nkeys = ['a.b']\noffset = { s2 = 'x' }", "[[merge.space]]\nkeys = ['a.b']\nmax = 0",
			"[[merge.counter]]\nat = 'a.b'", "[[merge.table]]\npolicy = 'same'", "[[merge.table]]\ntables = ['a']\npolicy = 'sam'",
			"[[merge.table]]\ntables = ['a']\npolicy = 'combine'\nset = { a = 1 }", "[[merge.name]]\ntemplate = '{name}x'", "[[merge.name]]\nat = 'a.b'\nkeep = 'newest'\nby = 'c'",
			"[schema]\nname = 'x'", "[schema]\nname = 'x'\n[schema.tables]\na = ['b']", "[[check.world]]\nat = 'a.b'",
		},
		"config": {
			"[registry]\ndsn = 0", "[registry]\ndns = 'sqlite:a.db'", "[[source]]\nname = 's1'", "[[source]]\ndsn = 'sqlite:a.db'", "[source]\nname = 's1'\ndsn = 'sqlite:a.db'",
			"[registry]\ndsn = 'sqlite:a.db'\ndsn_env = 'A'", "[check]\nplane = []",
		},
		"campaign": {
			"", "[campaign]\nname = 'x'", "[campaign]\nname = 'x'\n[[merge]]\ntarget = 'a'", "[campaign]\nname = 'x'\nparallel = 0\n[[merge]]\ntarget = 'a'\nsources = ['b']",
			"[campaign]\nname = 'x'\nbackup = 'yes'\n[[merge]]\ntarget = 'a'\nsources = ['b']", "[campaign]\nname = 'x'\n[[merge]]\ntarget = 'a'\nsources = ['b']\n[[hook]]\nrun = ['x']",
			"[campaign]\nname = 'x'\n[[merge]]\ntarget = 'a'\nsources = ['b']\n[[hook]]\non = ['verifyed']\nrun = ['x']", "[campaign]\nname = 'x'\n[[merge]]\ntarget = 'a'\nsources = ['b']\n[[hook]]\non = ['verified']",
		},
	} {
		valid := validator(t, kind)
		for _, text := range texts {
			if readers[kind](text) == nil {
				t.Errorf("the reader takes %q", text)
			}
			if valid(text) == nil {
				t.Errorf("docs/schema/%s.json takes %q", kind, text)
			}
		}
	}
}
