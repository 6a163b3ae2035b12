package main

import "testing"

func TestTable(t *testing.T) {
	sections := []section{
		{title: "One", intro: "How to read it.", rows: []row{
			{what: "x", measured: "1.00 ns", ratio: "1.00", note: "a | b < c"},
			{what: "longer", measured: "10.3 µs", ratio: "0.50"},
		}},
		{title: "Two", rows: []row{{what: "y"}}},
	}
	const want = `
**One**

How to read it.

| what   | measured | ratio | middle half | allocs | note      |
|--------|----------|-------|-------------|--------|-----------|
| x      | 1.00 ns  | 1.00  |             |        | a / b < c |
| longer | 10.3 µs  | 0.50  |             |        |           |

**Two**

| what   | measured | ratio | middle half | allocs | note      |
|--------|----------|-------|-------------|--------|-----------|
| y      |          |       |             |        |           |
`
	if got := asMarkdown(sections); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{nanos(0.987), "0.99 ns"},
		{nanos(38.24), "38.2 ns"},
		{nanos(38600), "38.6 µs"},
		{perSecond(1000), "1.00 M/s"},
		{perSecond(8000), "125 k/s"},
		{perSecond(150_000), "6.7 k/s"},
		{perSecond(2.5e7), "40/s"},
		{digits(0.0449), "0.045"},
		{digits(0.449), "0.45"},
		{digits(1024.4), "1024"},
		{allocs(0.009), "0"},
		{allocs(1.0001), "1"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
