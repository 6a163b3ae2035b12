package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mergesafe/internal/printable"
)

// request is a line to the command.
type request struct {
	N    uint64   `json:"n"`
	Cell []byte   `json:"cell"`
	Keys []string `json:"keys,omitempty"` // none: which are there is the question
}

func (r request) line() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // of texts and bytes
	}
	return append(b, '\n')
}

// reply is what a line from the command says: keys, or a cell, or why there is neither.
type reply struct {
	keys    []Integer
	cell    []byte
	refused error
}

// read reads a line, the answer to a request. It says what is wrong with it, or "".
func read(line []byte, r request) (a reply, nonsense string) {
	var said struct {
		N     *uint64   `json:"n"`
		Keys  *[]string `json:"keys"`
		Cell  *[]byte   `json:"cell"`
		Error *string   `json:"error"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&said)
	if _, end := d.Token(); err == nil && !errors.Is(end, io.EOF) {
		err = errors.New("something follows the object")
	}
	answered := "it answered " + cut(line)
	want := "keys"
	if r.Keys != nil {
		want = "cell"
	}
	switch {
	case err != nil:
		return a, fmt.Sprintf("%s: %s", answered, printable.Text(err.Error()))
	case said.N == nil || *said.N != r.N:
		return a, fmt.Sprintf("%s: want the n of the request, %d", answered, r.N)
	case said.Error != nil && said.Keys == nil && said.Cell == nil:
		a.refused = errors.New("the codec says " + cut([]byte(*said.Error)))
		return a, ""
	case said.Error != nil || (said.Keys == nil) == (said.Cell == nil) || (said.Keys != nil) != (r.Keys == nil):
		return a, fmt.Sprintf("%s: want %s, or error, and nothing else", answered, want)
	case said.Cell != nil:
		a.cell = *said.Cell
		return a, ""
	}
	for _, text := range *said.Keys {
		n, ok := ParseInteger([]byte(text))
		if !ok || n.String() != text {
			return a, fmt.Sprintf("%s: the key %s is no whole number from -2^63 to 2^64-1, without leading zeros", answered, cut([]byte(text)))
		}
		a.keys = append(a.keys, n)
	}
	return a, ""
}

// cut quotes the beginning of what a command wrote.
func cut(b []byte) string {
	const most = 200
	if b = bytes.TrimSpace(b); len(b) > most {
		return fmt.Sprintf("%+q and %d more bytes", b[:most], len(b)-most)
	}
	return fmt.Sprintf("%+q", b)
}
