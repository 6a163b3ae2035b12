package report

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// payload would run or load something, or hide what stands beside it, if it
// ever were taken for more than text.
const payload = `"'><script>pwned=1</script></title></style><img src=x onerror="pwned=2"><svg onload=pwned=3>--></script><!--{{.}}` + "\u202e\x1b[2J\x00\u2028"

// hostile is a report in which every text is the payload, and every list has
// something in it.
func hostile() *verdict.Report {
	r := new(verdict.Report)
	fill(reflect.ValueOf(r).Elem())
	for _, v := range []verdict.Verdict{verdict.Fail, verdict.NotVerified, verdict.Pass} {
		more := r.Results[0]
		more.Code, more.Verdict, more.Allowed = verdict.CodeKeyCollision, v, v == verdict.Fail
		r.Results = append(r.Results, more)
	}
	return r
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(payload)
		if v.Type() == reflect.TypeFor[verdict.Verdict]() {
			v.SetString(string(verdict.Fail))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1234567)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
			return
		}
		if v.Type() == reflect.TypeFor[keys.Pairs]() { // numbers, which are made by nobody else
			if err := v.Addr().Interface().(*keys.Pairs).UnmarshalText([]byte("5:17")); err != nil {
				panic(err)
			}
			return
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			switch v.Field(i).Type() {
			case reflect.TypeFor[[]*rules.Stays](), reflect.TypeFor[*keys.Set](): // of which no document says anything
			default:
				fill(v.Field(i))
			}
		}
	}
}

func write(t *testing.T, r *verdict.Report) string {
	t.Helper()
	return labels.ReplaceAllString(written(t, NewCheck(r).WriteHTML), "")
}

// labels repeat the heads of columns in their cells; see TestLabels.
var labels = regexp.MustCompile(` data-label="[^"]*"`)

// written is a whole page.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Cells of wide tables say what their columns are.
func TestLabels(t *testing.T) {
	page := written(t, sampleOutcome().WriteHTML) + written(t, NewCheck(sample1()).WriteHTML)
	for _, want := range []string{
		`<td data-label="world"><span class="value"><bdi>s1</bdi></span><td data-label="server">`, `<td data-label="rows" class="n">`,
		`<td data-label="Table"><bdi>items</bdi><td data-label="Verdict">`, `<td class="n" data-label="s1">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	payload := written(t, hostileOutcome().WriteHTML)
	for _, label := range labels.FindAllString(payload, -1) {
		if strings.ContainsAny(label, "<>") {
			t.Errorf("a label has markup: %s", label)
		}
	}
}

// No text of a report is ever taken for markup. The browser's own opinion is
// in TestBrowser.
func TestHostileTexts(t *testing.T) {
	ended := hostileOutcome()
	ended.Ending = payload
	for name, html := range map[string]string{
		"report": write(t, hostile()), "outcome": writeOutcome(t, hostileOutcome()), "ending": writeOutcome(t, ended),
	} {
		t.Run(name, func(t *testing.T) { harmless(t, html) })
	}
}

func harmless(t *testing.T, html string) {
	for _, no := range []string{"<script", "<img", "onload=pwned=3>", "<!--", "\u202e", "\x1b", "\x00"} {
		if at := strings.Index(html, no); at >= 0 {
			t.Errorf("%q is in the document: ...%q...", no, html[max(0, at-60):min(len(html), at+60)])
		}
	}
	if !strings.Contains(html, `<span class="escape">\u202e\x1b</span>[2J<span class="escape">\x00\u2028</span>`) {
		t.Error("what cannot be seen is not shown as an escape")
	}
}

// Nothing in the document asks for anything outside of it.
func TestSelfContained(t *testing.T) {
	html := write(t, sample1()) + writeOutcome(t, sampleProof())
	if m := regexp.MustCompile(`(?i)\b(src|href|srcset|action|poster|data)="[^#"][^"]*"|url\(|@import|https?:`).FindString(html); m != "" {
		t.Errorf("%q leads out of the document", m)
	}
	if strings.Count(html, `content="default-src &#39;none&#39;; style-src &#39;sha256-`) != 2 {
		t.Error("no Content-Security-Policy")
	}
}

type brokenWriter struct{}

var errBroken = errors.New("disk full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriterError(t *testing.T) {
	if err := NewCheck(sample1()).WriteHTML(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// All that a report says can be read in the document.
func TestEverythingIsThere(t *testing.T) {
	html := write(t, sample1())
	for _, want := range []string{
		"<title>FAIL: s1, s2, s3</title>",
		`<p class="verdict">FAIL</p>`, "<h1>Merging <bdi>s1, s2, s3</bdi> is not safe.</h1>",
		`<b>1</b> failed`, `<b>1</b> not verified`, `<b>2</b> passed`,
		"do not merge; find out why", "<small><bdi>key-collision</bdi></small>",
		"server 1 realm 1 in s1: 12,345 IDs", "server 9 in s2: 7 IDs, not in the registry", "server 4 in s2: 5 IDs, merged in",
		"4 keys occur more than once", "1 of 4 shown", "and 3 more",
		"<i>NULL</i>", "<i>empty</i>", "<i>–</i>",
		"chat_log", "CSV: not part of the snapshot", "<i>not read</i>",
		"schema-table", "1,234,567",
		"<td><bdi>items</bdi><td><bdi>s1</bdi><td><bdi>007b38970a0000010001</bdi><td><bdi>007b38970a0000010064</bdi>",
		"they may be the game's own data", "<pre># distinct in every database\n[[check.unique]]\nat = [&#34;players.name&#34;]\n",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
}

// What the operator allows is shown as such and as what it is, and has not
// passed.
func TestAllowed(t *testing.T) {
	r := sample1()
	r.Verdict = verdict.Pass
	r.Results[0].Allowed, r.Results[3].Allowed = true, true
	html := write(t, r)
	for _, want := range []string{
		"<b>0</b> failed", "<b>0</b> not verified", "<b>2</b> allowed by the operator", "<b>2</b> passed",
		"<h1>Merging <bdi>", "is safe, except for results that the operator allows.", `<h2>Allowed by the operator</h2>`, `<span class="mark fail">FAIL</span> <span class="mark">counts as PASS</span>`,
		`<td><bdi>items</bdi><td><span class="mark fail">FAIL</span>`, "key-collision (allowed)", "table-skipped (allowed)",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
	if strings.Contains(html, `id="failed"`) || strings.Contains(html, `id="gaps"`) || strings.Contains(html, `id="next"`) {
		t.Error("what is allowed stands among what is not")
	}
}

// A report without a verdict has none in any place.
func TestIncomplete(t *testing.T) {
	r := sample1()
	r.Verdict, r.Incomplete = "", "interrupted"
	html := write(t, r)
	for _, want := range []string{"<title>INCOMPLETE: ", `<header class="unsure">`, `<p class="verdict">INCOMPLETE</p>`, "<h1>No verdict on merging <bdi>", "interrupted</bdi>. There is no verdict"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
}

// Values that are not alike in all rows stand out, those that are do not.
func TestGrid(t *testing.T) {
	rows := []verdict.SampleRow{
		{World: "s1", Fields: []catalog.Field{{Column: "id", Value: "1"}, {Column: "name", Value: "Ana"}, {Column: "mail", Null: true}}},
		{World: "s2", Fields: []catalog.Field{{Column: "id", Value: "1"}, {Column: "name", Value: "Eva"}, {Column: "mail", Value: ""}, {Column: "new", Value: "x"}}},
	}
	want := grid{Worlds: []string{"s1", "s2"}, Lines: []gridLine{
		{"id", false, []cell{{Text: "1"}, {Text: "1"}}},
		{"name", true, []cell{{Text: "Ana"}, {Text: "Eva"}}},
		{"mail", true, []cell{{Null: true}, {Text: ""}}},
		{"new", true, []cell{{Missing: true}, {Text: "x"}}},
	}}
	if diff := cmp.Diff(want, newGrid("", rows)); diff != "" {
		t.Error(diff)
	}
}

// A table is as bad as the worst that was found in it, and one of which
// nothing was said has not passed.
func TestTables(t *testing.T) {
	r := &verdict.Report{
		Worlds: []verdict.Summary{{Name: "s1", Tables: []verdict.TableSummary{{Table: "a", Rows: 1}, {Table: "b", Rows: 2000}, {Table: "silent", Rows: 3}}}, {Name: "s2"}},
		Results: []verdict.Result{
			{Code: "x", Table: "a", Verdict: verdict.Pass}, {Code: "y", Table: "a", Verdict: verdict.NotVerified},
			{Code: "x", Table: "b", Verdict: verdict.Fail}, {Code: "y", Table: "b", Verdict: verdict.Pass},
			{Code: "x", Table: "c", Verdict: verdict.Pass},
		},
	}
	want := []table{
		{"b", []*int64{new(int64(2000)), nil}, verdict.Fail, []string{"x"}},
		{"a", []*int64{new(int64(1)), nil}, verdict.NotVerified, []string{"y"}},
		{"silent", []*int64{new(int64(3)), nil}, verdict.NotVerified, nil},
		{"c", []*int64{nil, nil}, verdict.Pass, nil},
	}
	if diff := cmp.Diff(want, tables(r)); diff != "" {
		t.Error(diff)
	}
}

// sample1 has something of everything.
func sample1() *verdict.Report {
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC) }
	item := func(owner catalog.Field) []catalog.Field {
		return []catalog.Field{{Column: "id", Value: "007b38970a0000010064"}, owner, {Column: "note", Value: ""}, {Column: "title", Value: "火球术士 the long-winded"}}
	}
	tables := func(n int64) []verdict.TableSummary {
		return []verdict.TableSummary{{Table: "items", Rows: n}, {Table: "players", Rows: n / 10}, {Table: "guild_members", Rows: 12}}
	}
	first := tables(1234567)
	first[0].First, first[0].Last = "007b38970a0000010001", "007b38970a0000010064"
	return &verdict.Report{
		Version: verdict.ReportVersion, Verdict: verdict.Fail,
		Proposals: []verdict.Proposal{{Unique: &rules.DeclaredUnique{Table: "players", Columns: []string{"name"}}, Evidence: "distinct in every database"}},
		Started:   at(20, 3), Finished: at(20, 4),
		Worlds: []verdict.Summary{
			{Name: "s1", Engine: "mariadb 10.11.19", Tables: first, Servers: []verdict.ServerSummary{
				{Server: 1, Name: "realm 1", Own: true, Listed: true, IDs: 12345, Oldest: at(1, 0), Newest: at(19, 0), Mark: at(19, 1)}}},
			{Name: "s2", Engine: "mariadb 10.11.19", Tables: tables(98765), Servers: []verdict.ServerSummary{
				{Server: 2, Name: "realm 2", Own: true, Listed: true, IDs: 2345, Oldest: at(5, 0), Newest: at(20, 2), Mark: at(20, 3)},
				{Server: 4, Listed: true, IDs: 5, Oldest: at(2, 0), Newest: at(3, 0), Mark: at(6, 0)},
				{Server: 9, IDs: 7, Oldest: at(12, 0), Newest: at(31, 0)}}},
			{Name: "s3", Engine: "mariadb 10.11.19", Tables: tables(555), Servers: []verdict.ServerSummary{
				{Server: 3, Name: "realm 3", Own: true, Listed: true, IDs: 555, Oldest: at(10, 0), Newest: at(20, 1), Mark: at(20, 1)}}},
		},
		Results: []verdict.Result{
			{Code: verdict.CodeKeyCollision, Table: "items", Subject: "id", Verdict: verdict.Fail, Read: 1333887, Count: 4, Rows: 8, Alike: true,
				Message: "4 keys occur more than once, in 8 rows",
				Samples: []verdict.Sample{{Key: "007b38970a0000010064", Omitted: 3, Rows: []verdict.SampleRow{
					{World: "s1", Fields: item(catalog.Field{Column: "owner", Value: "007b387ea00000010000"})},
					{World: "s2", Fields: item(catalog.Field{Column: "owner", Null: true})},
					{World: "s3", Table: "players", Fields: []catalog.Field{{Column: "id", Value: "007b387ea00000010000"}, {Column: "name", Value: "Aria"}}},
					{World: "s2", Table: "players", Fields: []catalog.Field{{Column: "id", Value: "007b387ea00000010001"}, {Column: "level", Value: "9"}}},
				}}},
				Next: []string{"no two servers make the same ID: look at server-conflict and world-cloned first", "do not merge; find out why both databases have the same key"}},
			{Code: verdict.CodeSchemaTable, Table: "items", Verdict: verdict.Pass, Read: 3, Message: "in every database"},
			{Code: verdict.CodeSchemaTable, Table: "players", Verdict: verdict.Pass, Read: 3, Message: "in every database"},
			{Code: verdict.CodeTableSkipped, Table: "chat_log", Verdict: verdict.NotVerified, Message: "was not read",
				Gaps: []verdict.Gap{{World: "s2", Reason: "CSV: not part of the snapshot"}},
				Next: []string{"check the table in another way"}},
		},
	}
}
