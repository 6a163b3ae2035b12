package keys_test

import (
	"strings"
	"testing"

	"mergesafe/merge/keys"
)

func row(t *testing.T, format, column string) *keys.Row {
	t.Helper()
	r, err := keys.ParseRow(format, column, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Several formats of one row are spliced together, each with its own images.
func TestSpliceAll(t *testing.T) {
	tests := map[string]struct {
		formats []string // for the column a
		cells   map[string]string
		want    map[string]string // what changes
		wrong   string
	}{
		"one":                     {[]string{"list sep=' ' pos=0"}, map[string]string{"a": "7 7"}, map[string]string{"a": "107 7"}, ""},
		"nothing":                 {[]string{"list sep=' ' every"}, map[string]string{"a": ""}, map[string]string{}, ""},
		"two places of a list":    {[]string{"list sep=' ' pos=0", "list sep=' ' pos=2"}, map[string]string{"a": "7 8 9"}, map[string]string{"a": "107 8 209"}, ""},
		"two paths":               {[]string{"json '$.owner'", "json '$.items[*]'"}, map[string]string{"a": `{"items": [1, 2],"owner":7}`}, map[string]string{"a": `{"items": [201, 202],"owner":107}`}, ""},
		"two tags":                {[]string{"bits 0..15 tag 16..23=1", "bits 0..15 tag 16..23=2"}, map[string]string{"a": "131080"}, map[string]string{"a": "131280"}, ""},
		"words":                   {[]string{"words [a, b]"}, map[string]string{"a": "65535", "b": "0"}, map[string]string{"a": "99", "b": "1"}, ""},
		"one byte for two":        {[]string{"list sep=' ' pos=0", "list sep=' ' every"}, map[string]string{"a": "7 8"}, nil, "belongs to both"},
		"words and a whole cell":  {[]string{"words [a, b]", "bits 0..15"}, map[string]string{"a": "7", "b": "8"}, nil, "belongs to both"},
		"what the other disturbs": {[]string{"regex '^7 ([0-9]+)'", "list sep=' ' pos=0"}, map[string]string{"a": "7 8"}, nil, "finds other keys"},
		"one that is broken":      {[]string{"list sep=' ' pos=0", "list sep=' ' pos=1"}, map[string]string{"a": "7 x"}, nil, `"x"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var formats []*keys.Row
			for _, f := range tt.formats {
				formats = append(formats, row(t, f, "a"))
			}
			got, err := keys.SpliceAll(formats, func(column string) []byte { return []byte(tt.cells[column]) }, func(i int, k keys.CellKey) (keys.Integer, error) {
				v, _ := k.Value.Add(uint64(100 * (1 + i)))
				return v, nil
			})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("%v, want %q", err, tt.wrong)
				}
				return
			}
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("%q, %v, want %q", got, err, tt.want)
			}
			for column, want := range tt.want {
				if string(got[column]) != want {
					t.Errorf("%s: %q, want %q", column, got[column], want)
				}
			}
		})
	}
}

// Most is the largest key that can be written.
func TestMost(t *testing.T) {
	for format, want := range map[string]string{
		"list sep=' ' pos=0": "", "bits 0..31 tag 48..63=0x4000": "4294967295", "bits 0..63": "",
		"records size=16 at=3 len=4 le": "4294967295", "array count=u32le elem=u64le": "", "array count=u32le elem=u32le then bits 0..7": "255",
		"regex '([0-9]+)' width=6 pad='0'": "999999", "regex '([0-9A-F]+)' base=16 upper width=16 pad='0'": "", "regex '([0-9]+)' width=30 pad='0'": "",
		"words [a, b]": "4294967295", "words [a, b] each=32": "",
	} {
		most, known := row(t, format, "a").Most()
		if known != (want != "") || known && most.String() != want {
			t.Errorf("%s: %s, %v, want %q", format, most, known, want)
		}
	}
}

func TestRowOfWordsElsewhere(t *testing.T) {
	if _, err := keys.ParseRow("words [b, c]", "a", nil); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Error(err)
	}
}

// What a cell takes for a large key it takes for each smaller one, if the format is steady.
func TestSteady(t *testing.T) {
	for format, want := range map[string]bool{
		"list sep=' ' every": true, "json '$.owner'": true, "words [a, b]": true, "list sep=' ' pos=0 then list sep=':' pos=1": true,
		"regex '([0-9]+)'": false, "records size=4 at=0 len=4 le empty=7": false, "bits 0..31": false, "list sep=' ' every then regex 'k([0-9]{3})'": false,
	} {
		if got := row(t, format, "a").Steady(); got != want {
			t.Errorf("%s: %v, want %v", format, got, want)
		}
	}
}
