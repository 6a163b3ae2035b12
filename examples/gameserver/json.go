package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"
)

// decode reads the body of a request into the struct that v points to. All of
// its errors are to be told to the client.
func decode(r *http.Request, v any) error {
	const want = "application/json"
	given := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(given); err != nil || media != want {
		return newProblem(http.StatusUnsupportedMediaType, "", "content type is %q, want %s", given, want)
	}
	body, err := io.ReadAll(r.Body) // at most maxBody
	if err == nil {
		err = plain(body)
	}
	if err != nil {
		return decodeError(err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return decodeError(err)
	}
	switch _, err := d.Token(); {
	case err == io.EOF:
		return nil
	case err == nil:
		return newProblem(http.StatusBadRequest, "", "the body continues after its JSON value")
	default:
		return decodeError(err)
	}
}

const (
	maxDepth    = 8
	nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"
)

// plain refuses bodies that encoding/json would change without a word: it puts U+FFFD in the place of bytes that are no
// UTF-8 and of half a pair of surrogates, it takes a key for a field of the same letters in another case, such as "itemſ" for
// items, and of a key that comes twice the last. It also refuses what is nested deeper than any body of this game: levels
// cost more memory than bytes. Any other mistake is left to encoding/json.
func plain(body []byte) error {
	if !utf8.Valid(body) {
		return newProblem(http.StatusBadRequest, "", "the body is not valid UTF-8")
	}
	const replaced = "\uFFFD"
	typed := bytes.Contains(body, []byte(replaced)) || bytes.Contains(bytes.ToLower(body), []byte(`\ufffd`))
	d := json.NewDecoder(bytes.NewReader(body))
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		text, isText := token.(string)
		if isText && !typed && strings.Contains(text, replaced) {
			return newProblem(http.StatusBadRequest, "", "a text in the body has half a pair of surrogates")
		}
		if end := len(open) - 1; end >= 0 && open[end].keys != nil && token != json.Delim('}') {
			if at := &open[end]; at.key {
				if strings.Trim(text, nameLetters) != "" { // a field takes its name in other cases, too
					return newProblem(http.StatusBadRequest, text, "%s is not a known field", text)
				}
				if at.keys[text] {
					return newProblem(http.StatusBadRequest, text, "%s is in the body twice", text)
				}
				at.keys[text] = true
			}
			open[end].key = !open[end].key
		}
		if len(open) == maxDepth && (token == json.Delim('{') || token == json.Delim('[')) {
			return newProblem(http.StatusBadRequest, "", "the body is nested more than %d deep", maxDepth)
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{make(map[string]bool), true})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

func decodeError(err error) error {
	if _, ok := errors.AsType[*problem](err); ok {
		return err
	}
	bad := func(field, format string, args ...any) error {
		return newProblem(http.StatusBadRequest, field, format, args...)
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return newProblem(http.StatusRequestEntityTooLarge, "", "the body has more than %d bytes", e.Limit)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return bad("", "the body is a JSON %s, want an object", e.Value)
		}
		return bad(e.Field, "%s is a JSON %s, want %s", e.Field, e.Value, jsonType(e))
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return bad("", "the body is not JSON: %v, at byte %d", e, e.Offset)
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		field := strings.Trim(quoted, `"`)
		return bad(field, "%s is not a known field", field)
	}
	switch err {
	case io.EOF:
		return bad("", "the body is empty, want a JSON object")
	case io.ErrUnexpectedEOF:
		return bad("", "the body ends in the middle of its JSON")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return newProblem(http.StatusRequestTimeout, "", "the body did not come within %s", requestTimeout)
	}
	return bad("", "the body could not be read to its end") // the client ended it, or its framing is wrong
}

// jsonType names the type of a field in the words of JSON.
func jsonType(e *json.UnmarshalTypeError) string {
	switch kind := e.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"):
		return "a whole number of " + strings.TrimPrefix(kind, "int") + " bits"
	case kind == "slice":
		return "an array"
	case kind == "struct":
		return "an object"
	default:
		return "a " + kind
	}
}

// writeJSON sends v. If v cannot be put into JSON, it sends nothing and
// returns the error; whether the client takes it is the client's business.
func writeJSON(w http.ResponseWriter, contentType string, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
	return nil
}
