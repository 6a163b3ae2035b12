package keys

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestThen(t *testing.T) {
	run(t, []example{
		{format: "list sep=';' every then list sep=':' pos=0", cell: "5:1;7:2;", keys: "5 7", shifted: "20000005:1;20000007:2;"},
		{format: "list sep=';' every then list sep=':' pos=0", cell: "5:1;;7:2", keys: "5 7", shifted: "20000005:1;;20000007:2"},
		{format: "list sep=';' pos=1 then regex 'u([0-9]+)'", cell: "x;u5 u6", keys: "5 6", shifted: "x;u20000005 u20000006"},
		{format: "list sep=';' every then regex '([0-9]+)$'", cell: "x12;x3", keys: "12 3", shifted: "x20000012;x20000003"},
		{format: "json '$.mail' then json '$.sender'", cell: `{"mail":"{\"sender\": 5, \"t\\u0065xt\":\"\\u00e9\"}"}`, keys: "5", shifted: `{"mail":"{\"sender\": 20000005, \"t\\u0065xt\":\"\\u00e9\"}"}`},
		{format: "json '$' then json '$' then json '$.a'", cell: `"\"{\\\"a\\\":\\\"5\\\"}\""`, keys: "5", shifted: `"\"{\\\"a\\\":\\\"20000005\\\"}\""`},
		{format: "json '$[*]' then list sep='/' every", cell: `["5\/6","",7,null]`, keys: "5 6 7", shifted: `["20000005\/20000006","",20000007,null]`},
		{format: "json '$' then list sep=' ' every then bits 0..31", cell: `"5\u00206"`, keys: "5 6", shifted: `"20000005\u002020000006"`},
		{format: "regex 'data=(.*)$' then json '$.id'", cell: `x data={"id":5}`, keys: "5", shifted: `x data={"id":20000005}`},
		{format: "json '$[*]' then json '$.id'", cell: `["","{\"id\":5}"]`, keys: "5", shifted: `["","{\"id\":20000005}"]`},

		{format: "records size=11 at=0 len=10 then json '$' then list sep=' ' every", cell: `"5\u00206"x`, keys: "5 6", fault: `byte 1: "5": new value 20000005: needs 8 bytes but has 1`},
		{format: "json '$.mail' then json '$.sender'", cell: `{"mail":"{\"sender\": 0\u0035}"}`, fault: `byte 23: "5}": want a comma or }`},
		{format: "json '$.mail' then json '$.sender'", cell: `{"mail":"{\"sender\": \u0035}"}`, fault: `byte 22: "5": the number is written with escapes`},
		{format: "json '$.mail' then json '$.sender'", cell: `{"mail":"{\"sender\": }"}`, fault: `byte 22: "}": want a JSON value`},
		{format: "json '$.mail' then json '$.sender'", cell: `{"mail":{"sender":5}}`, fault: `want a string or a number at the end of the path`},
		{format: "list sep=';' every then list sep=':' pos=1", cell: "5:1;7", fault: `byte 4: "7": want element 1, counted from 0, but the list has 1`},
		{format: "regex '([0-9])' then regex '[0-9]' group=0", cell: "12", fault: "this is longer than the number"},
	})
}

// The oracle makes the cell, twice wrapped by encoding/json, and unwraps it again.
func FuzzThen(f *testing.F) {
	f.Add(`{"id":5,"text":"é\n<"}`, uint64(20_000_000))
	f.Add(`{"id":"5"}`, uint64(7))
	f.Add(`[{"id":null}]`, uint64(7))
	f.Add("{\"id\":\"\u2028\"}", uint64(7))
	f.Fuzz(func(t *testing.T, inner string, offset uint64) {
		wrapped, err := json.Marshal(map[string]any{"x": inner, "mail": inner})
		if err != nil {
			t.Fatal(err)
		}
		var outer map[string]string
		json.Unmarshal(wrapped, &outer) // inner, with its broken bytes made whole
		plain, deep := must(t, "json '$.id'"), must(t, "json '$.mail' then json '$.id'")
		want, wantErr := plain.Keys([]byte(outer["mail"]))
		got, err := deep.Keys(wrapped)
		if (err == nil) != (wantErr == nil) || !slices.Equal(numbers(got), numbers(want)) {
			t.Fatalf("%q: keys %v, %v; without a string around it %v, %v", wrapped, got, err, want, wantErr)
		}
		roundTrip(t, deep, []byte(inner), offset)
		shifted, err := roundTrip(t, deep, wrapped, offset)
		if err != nil {
			return
		}
		there, err := plain.Splice([]byte(outer["mail"]), by(offset))
		if err != nil {
			t.Fatal(err)
		}
		var after map[string]string
		if err := json.Unmarshal(shifted, &after); err != nil || after["mail"] != string(there) || after["x"] != outer["x"] {
			t.Fatalf("%q: shifted %q, %v; want %q within", wrapped, shifted, err, there)
		}
	})
}
