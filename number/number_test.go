package number_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mergesafe/number"
)

var (
	_ sql.Scanner   = (*number.Number)(nil)
	_ driver.Valuer = number.Number(0)
)

func TestParse(t *testing.T) {
	for text, want := range map[string]number.Number{
		"1": 1, "10084213": 10084213, "10 084 213": 10084213, "10-084-213": 10084213, "1 2-3": 123,
		"10\u00a0084\u00a0213": 10084213, "10\u202f084\u202f213": 10084213, "10\u2009084\u2011213": 10084213,
		"999999999999999": number.Max,
	} {
		if got, err := number.Parse(text); got != want || err != nil {
			t.Errorf("%q: got %d, %v", text, got, err)
		}
	}
	for text, reason := range map[string]string{
		"":                  `"" has no digits`,
		"0":                 `"0" begins with 0`,
		"0123":              `"0123" begins with 0`,
		" 1":                "want digits, with single spaces or hyphens between them",
		"1 ":                "ends with a space or a hyphen",
		"1-":                "ends with a space or a hyphen",
		"1  2":              "is not a number",
		"-1":                "is not a number",
		"+1":                "is not a number",
		"1.5":               "is not a number",
		"1\n":               "is not a number",
		"١٢":                "is not a number", // digits of another script
		"1234567890123456":  "has more than 15 digits",
		"1\xff2":            `"1\xff2" is not a number`,
		"x" + spaces(1<<20): `"... is not a number`, // hostile input is not repeated in full
	} {
		got, err := number.Parse(text)
		if got != 0 || err == nil || !strings.Contains(err.Error(), reason) || len(err.Error()) > 200 {
			t.Errorf("%.50q: got %d, %v; want %s", text, got, err, reason)
		}
	}
}

func spaces(n int) string { return strings.Repeat(" ", n) }

func TestText(t *testing.T) {
	for n, want := range map[number.Number]string{1: "1", 123: "123", 1234: "1 234", 10084213: "10 084 213", number.Max: "999 999 999 999 999"} {
		if got := n.Spaced(); got != want || n.String() != strings.ReplaceAll(want, " ", "") {
			t.Errorf("got %q and %q, want %q", got, n, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := numbers(number.Max).Draw(t, "n")
		for _, text := range []string{n.String(), n.Spaced()} {
			if got, err := number.Parse(text); got != n || err != nil {
				t.Errorf("%q: got %d, %v", text, got, err)
			}
		}
	})
}

func numbers(most number.Number) *rapid.Generator[number.Number] {
	return rapid.Custom(func(t *rapid.T) number.Number {
		// All lengths are as likely.
		limit := number.Number(10)
		for range rapid.IntRange(0, 14).Draw(t, "digits") {
			limit *= 10
		}
		return number.Number(rapid.Int64Range(1, int64(min(most, limit-1))).Draw(t, "n"))
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"10 084 213", "0", "1--2", "9007199254740993", "1\u202f2", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := number.Parse(text)
		if (err == nil) != n.IsValid() {
			t.Fatalf("%q: got %d, %v", text, n, err)
		}
		if err != nil {
			return
		}
		if again, err := number.Parse(n.Spaced()); again != n || err != nil {
			t.Errorf("%q is %d, and then %d, %v", text, n, again, err)
		}
		if c, err := number.ParseChecked(text); (err == nil) != n.Checked() || err == nil && c != n {
			t.Errorf("%q: checked it is %d, %v", text, c, err)
		}
	})
}

func TestDatabase(t *testing.T) {
	for n, want := range map[number.Number]driver.Value{0: nil, 1: int64(1), number.Max: int64(number.Max)} {
		value, err := n.Value()
		if value != want || err != nil {
			t.Errorf("%d: got %v, %v", n, value, err)
		}
		got := number.Number(42)
		if err := got.Scan(value); got != n || err != nil {
			t.Errorf("%v: got %d, %v", value, got, err)
		}
	}
	var n number.Number
	if err := n.Scan([]byte("10084213")); n != 10084213 || err != nil { // as MySQL has it
		t.Errorf("got %d, %v", n, err)
	}
	for _, bad := range []any{int64(0), int64(-1), int64(number.Max) + 1, []byte("12x"), []byte(""), 1.5, "1"} {
		if err := n.Scan(bad); err == nil || n != 10084213 {
			t.Errorf("%v: got %d, %v", bad, n, err)
		}
	}
	for _, bad := range []number.Number{-1, number.Max + 1} {
		if v, err := bad.Value(); err == nil {
			t.Errorf("%d: got %v", bad, v)
		}
	}
}

func TestJSON(t *testing.T) {
	type P struct {
		N number.Number `json:"n,omitzero"`
	}
	for text, n := range map[string]number.Number{`{"n":10084213}`: 10084213, `{}`: 0} {
		b, err := json.Marshal(P{n})
		if string(b) != text || err != nil {
			t.Errorf("got %s, %v", b, err)
		}
		var back P
		if err := json.Unmarshal(b, &back); back.N != n || err != nil {
			t.Errorf("%s: got %d, %v", b, back.N, err)
		}
	}
}

// 572 has the check digit 4: the usual example of the method.
func TestCheckDigit(t *testing.T) {
	for n, want := range map[number.Number]number.Number{572: 5724, 1: 13} {
		if got := n.WithCheck(); got != want {
			t.Errorf("%d: got %d, want %d", n, got, want)
		}
	}
	for n := range number.Number(10) {
		if n.Checked() {
			t.Errorf("%d has nothing but a check digit, and is accepted", n)
		}
	}
	if n, err := number.ParseChecked("57 24"); n != 5724 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, wrong := range []string{"57 42", "5725", "7524", "0", "05724"} {
		if n, err := number.ParseChecked(wrong); n != 0 || err == nil {
			t.Errorf("%q: got %d, %v", wrong, n, err)
		}
	}
}

// detects fails unless every number with one wrong digit, or with two
// neighbours swapped, is refused.
func detects(t interface{ Errorf(string, ...any) }, n number.Number) {
	checked := n.WithCheck()
	text := []byte(checked.String())
	if got, err := number.ParseChecked(string(text)); got != checked || err != nil {
		t.Errorf("%s: got %d, %v", text, got, err)
	}
	refuse := func(wrong []byte, what string) {
		if _, err := number.ParseChecked(string(wrong)); err == nil {
			t.Errorf("%s for %s is accepted: %s", wrong, text, what)
		}
	}
	for i := range text {
		for digit := byte('0'); digit <= '9'; digit++ {
			if digit != text[i] {
				wrong := []byte(string(text))
				wrong[i] = digit
				refuse(wrong, "a wrong digit")
			}
		}
		if i > 0 && text[i] != text[i-1] {
			wrong := []byte(string(text))
			wrong[i], wrong[i-1] = wrong[i-1], wrong[i]
			refuse(wrong, "two swapped")
		}
	}
}

func TestMistyped(t *testing.T) {
	for n := number.Number(1); n < 3000; n++ {
		detects(t, n)
	}
	rapid.Check(t, func(t *rapid.T) { detects(t, numbers(number.Max/10).Draw(t, "n")) })
}

func TestPretty(t *testing.T) {
	for _, n := range []number.Number{1, 999, 1000, 5_000_000, 7777, 777_777, 1234, 12_345_678, 987_654, 3210, 1212, 12_121_212, 123_123, 123_456_123_456} {
		if !number.Pretty(n) {
			t.Errorf("%d is not pretty", n)
		}
	}
	for _, n := range []number.Number{1001, 1235, 1223, 12_121_213, 10_084_213, 5_000_001, 8901, 1357, 121} {
		if number.Pretty(n) != (n < 1000) {
			t.Errorf("%d is pretty", n)
		}
	}
	// There must be enough left.
	pretty := 0
	for n := number.Number(10_000_000); n < 10_100_000; n++ {
		if number.Pretty(n) {
			pretty++
		}
	}
	if pretty > 100 {
		t.Errorf("%d numbers of 100,000 are pretty", pretty)
	}
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "mergesafe/number").CombinedOutput()
	if err != nil {
		t.Fatal(errors.New(string(out)))
	}
	if got := strings.Fields(string(out)); len(got) != 1 {
		t.Errorf("the package depends on %v, want the standard library only", got)
	}
}
