package keys

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	run(t, []example{
		{format: "json '$.a[*].id'", cell: ` {"a": [{"id": 5}, {"x":1, "id" :"7"} ] } `, keys: "5 7", shifted: ` {"a": [{"id": 20000005}, {"x":1, "id" :"20000007"} ] } `},
		{format: "json '$'", cell: `-7`, keys: "-7", shifted: "19999993"},
		{format: "json '$[1]'", cell: `[1.5e3,2,[3]]`, keys: "2", shifted: `[1.5e3,20000002,[3]]`},
		{format: "json '$.a.*.id'", cell: `{"a":{"x":{"id":1},"y":{"id":null},"z":{}}}`, keys: "1", shifted: `{"a":{"x":{"id":20000001},"y":{"id":null},"z":{}}}`},
		{format: `json '$["two words"]["a.b"]'`, cell: `{"two words":{"a.b":3}}`, keys: "3", shifted: `{"two words":{"a.b":20000003}}`},
		{format: "json '$.a'", cell: `{"a":1,"\u0061":2,"b":3}`, keys: "1 2", shifted: `{"a":20000001,"\u0061":20000002,"b":3}`},
		{format: "json '$.a'", cell: `{"b":[{"a":1}]}`, shifted: `{"b":[{"a":1}]}`},
		{format: "json '$[0]'", cell: "[1" + strings.Repeat(",[]", 10001) + "]", keys: "1", shifted: "[20000001" + strings.Repeat(",[]", 10001) + "]"},
		{format: "json '$.a'", cell: `null`, shifted: `null`},
		{format: "json '$[*]'", cell: `[]`, shifted: `[]`},
		{format: "json '$[*].a'", cell: `[null,{"a":0}]`, keys: "0", shifted: `[null,{"a":20000000}]`},
		{format: "json '$.a'", cell: "{\"a\":1,\"\xff\":\"\\ud800\"}", keys: "1", shifted: "{\"a\":20000001,\"\xff\":\"\\ud800\"}"},

		{format: "json '$.a'", cell: `{"a":1.0}`, fault: `byte 5: "1.0": want a whole number`},
		{format: "json '$.a'", cell: `{"a":1e3}`, fault: `byte 5: "1e3": want a whole number`},
		{format: "json '$.a'", cell: `{"a":-0}`, fault: `byte 5: "-0": want a whole number`},
		{format: "json '$.a'", cell: `{"a":""}`, fault: `byte 6: "": want a whole number`},
		{format: "json '$.a'", cell: `{"a":"npc"}`, fault: `byte 6: "npc": want a whole number`},
		{format: "json '$.a'", cell: `{"a":"07"}`, fault: `byte 6: "07": want`},
		{format: "json '$.a'", cell: `{"a":"1\u0031"}`, fault: `byte 6: "11": the number is written with escapes`},
		{format: "json '$.a'", cell: `{"a":true}`, fault: `byte 5: "true}": want a whole number, or a string of one, at the end of the path`},
		{format: "json '$.a'", cell: `{"a":[1]}`, fault: `byte 5: "[1]}": want a whole number`},
		{format: "json '$.a[*]'", cell: `{"a":{"b":1}}`, fault: `byte 5: "{\"b\":1}}": want an array for the path's [*]`},
		{format: "json '$.a.b'", cell: `{"a":[1]}`, fault: `want an object for the path's .b`},
		{format: "json '$.a.b'", cell: `{"a":3}`, fault: `byte 5: "3}": want an object for the path's .b`},
		{format: "json '$.a'", cell: `{"a":1}x`, fault: `byte 7: "x": want the end of the JSON`},
		{format: "json '$.a'", cell: `{"a":1`, fault: `byte 6: "": want a comma or }`},
		{format: "json '$.a'", cell: `{"a":1,}`, fault: `byte 7: "}": want a string`},
		{format: "json '$.a'", cell: `{"a" 1}`, fault: `want a colon`},
		{format: "json '$.a'", cell: `{"a":01}`, fault: `want a comma or }`},
		{format: "json '$.a'", cell: `{"a":-}`, fault: `want a digit`},
		{format: "json '$.a'", cell: `{"b":"\x"}`, fault: `byte 6: "\\x\"}": this is not a valid escape`},
		{format: "json '$.a'", cell: "{\"b\":\"\n\"}", fault: `a string cannot contain this byte`},
		{format: "json '$.a'", cell: `{"b":"`, fault: `the string is not closed`},
		{format: "json '$.a'", cell: " ", fault: `want a JSON value`},
		{format: "json '$.a'", cell: "nul", fault: `want a JSON value`},
		{format: "json '$.a'", cell: strings.Repeat("[", 10001), fault: `want an object`},
		{format: "json '$.a'", cell: `{"b":` + strings.Repeat("[", 10001), fault: `more than 10000 levels deep`},
		{format: "json '$.a'", cell: `{"a":99999999999999999999}`, fault: `want a whole number`},
	})
	refused(t, map[string]string{
		"json":              "want a path in quotes; right is: json '$.owner'",
		"json $.a":          "want a path in quotes",
		"json 'a'":          "want a path",
		"json '$a'":         "want a path",
		"json '$.'":         "want a path",
		"json '$..a'":       "want a path",
		"json '$[-1]'":      "want a path",
		"json '$[1'":        "want a path",
		"json '$[?(@.a)]'":  "want a path",
		"json '$[1]]'":      "want a path",
		"json '$.a' base=2": "base=2 does not belong here",
	})
}

// The oracle is encoding/json: what is JSON, and what is at a path.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[{"id":5},{"id":"7"}]}`, `{"a":[{"id":1.0}]}`, `{"a":null}`, ` [1,{"\u0061":[]}] `, `{"a":[{"\u0069d":1}]}`, `{"\ud83d\ude00":"\ud800x"}`, "{\"\xff\":1e+5}", `"a`, `{"a":[{"id":"1\u0031"}]}`} {
		f.Add(seed, uint64(20_000_000))
	}
	f.Fuzz(func(t *testing.T, cell string, offset uint64) {
		format := must(t, "json '$.a[*].id'")
		roundTrip(t, format, []byte(cell), offset)
		roundTrip(t, must(t, "json '$.a[*].id' then json '$[*]'"), []byte(cell), offset)
		keys, err := format.Keys([]byte(cell))
		if cell == "" {
			return
		}
		if !json.Valid([]byte(cell)) {
			if err == nil {
				t.Fatalf("%q is no JSON, and has keys %v", cell, keys)
			}
			return
		}
		var outer map[string]any
		if names := strings.Count(cell, ":"); names != strings.Count(cell, `"a":`)+strings.Count(cell, `"id":`) || strings.Count(cell, `"a":`) > 1 || strings.Count(cell, `"id":`) > 1 {
			outer = nil // a map does not keep names that come twice
		} else {
			decoder := json.NewDecoder(strings.NewReader(cell))
			decoder.UseNumber()
			decoder.Decode(&outer)
		}
		list, ok := outer["a"].([]any)
		if !ok {
			return
		}
		var want []string
		for _, one := range list {
			if one == nil {
				continue
			}
			object, ok := one.(map[string]any)
			if ok = ok && err == nil; !ok {
				if err == nil {
					t.Fatalf("%q: keys %v, want an error", cell, keys)
				}
				return
			}
			switch id := object["id"].(type) {
			case json.Number:
				want = append(want, id.String())
			case string:
				want = append(want, id)
			}
		}
		if err == nil && !slices.Equal(numbers(keys), want) {
			t.Fatalf("%q: keys %v, want %q", cell, keys, want)
		}
	})
}

// What is JSON for the scanner is JSON for encoding/json, and the other way round: nothing
// is at the path, so that only the syntax counts.
func FuzzJSONSyntax(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e-7,"\u00e9\n"],"b":{"c":null}} `, `[`, `"\ud800"`, "\"\xff\"", `[1,]`, `-01`, `{"a":1,"a":2}`, `tru`, "\v1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		keys, err := must(t, "json '$[0].nothing'").Keys([]byte("[null," + cell + "]"))
		if valid := json.Valid([]byte("[null," + cell + "]")); len(keys) > 0 || (err == nil) != valid {
			t.Fatalf("%q: keys %v, %v; JSON is %v", cell, keys, err, valid)
		}
	})
}

// What an escaped string says is what encoding/json reads.
func FuzzJSONString(f *testing.F) {
	for _, seed := range []string{`plain`, `a\"b\\c\/\b\f\n\r\t`, `\u00e9\ud83d\ude00`, `\ud800\u0041`, `\ud800`, `\ud83dx`, `\udc00\ud800`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		cell := []byte(`"` + content + `"`)
		var want string
		if json.Unmarshal(cell, &want) != nil {
			return
		}
		want = strings.ToValidUTF8(want, "\uFFFD")
		found, err := jsonPath{text: true}.find(part{source: cell, to: len(cell)})
		if err != nil || len(found) != 1 {
			t.Fatalf("%q: %v, %v", cell, found, err)
		}
		var got strings.Builder // a broken byte is one U+FFFD for encoding/json
		for _, r := range string(found[0].bytes()) {
			got.WriteRune(r)
		}
		if got.String() != want {
			t.Fatalf("%q: %q, want %q", cell, got.String(), want)
		}
	})
}
