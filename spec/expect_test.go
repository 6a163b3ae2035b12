package spec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"mergesafe/gameid"
	"mergesafe/number"
)

// What a reader answers to one question, by what gameid and number do: "ok" and
// what was read, or "error" and the name that SPEC.md gives it.

func okID(id gameid.ID) string {
	return fmt.Sprintf("ok\t%d\t%d\t%d\t%x\t%s\t%s", id.Millis(), id.Server(), id.Sequence(), id.Bytes(), id, timeText(id))
}

func fail(name string) string { return "error\t" + name }

func errorOf(answer string) string {
	name, ok := strings.CutPrefix(answer, "error\t")
	if !ok {
		panic("valid: " + answer)
	}
	return name
}

// parseFailure names the error of an ID's text or bytes.
func parseFailure(err error) string {
	e, ok := errors.AsType[*gameid.ParseError](err)
	switch {
	case ok && strings.Contains(e.Reason, "is not a hexadecimal digit"):
		return fail("digit")
	case ok && strings.HasPrefix(e.Reason, "it has "):
		return fail("length")
	case ok && strings.HasPrefix(e.Reason, "server 0"):
		return fail("server")
	case ok && strings.HasPrefix(e.Reason, "it cannot be opened"):
		return fail("sealed")
	}
	panic(err)
}

func expectText(input string) string {
	id, err := gameid.Parse(input)
	if err != nil {
		return parseFailure(err)
	}
	return okID(id)
}

func expectBytes(input []byte) string {
	id, err := gameid.FromBytes(input)
	if err != nil {
		return parseFailure(err)
	}
	return okID(id)
}

func expectFields(millis, server, sequence int64) string {
	time, ok := at(millis)
	switch {
	case !ok:
		return fail("time")
	case server < 0 || server > int64(gameid.MaxServer) || !gameid.ServerID(server).IsValid():
		return fail("server")
	case sequence < 0 || sequence > 1<<16-1:
		return fail("sequence")
	}
	id, err := gameid.Make(time, gameid.ServerID(server), uint16(sequence))
	if err != nil {
		panic(err)
	}
	return okID(id)
}

func expectCompare(a, b string) string {
	return fmt.Sprintf("ok\t%d", gameid.MustParse(a).Compare(gameid.MustParse(b)))
}

// expectCipher returns the cipher, or what is wrong with its key or kind.
func expectCipher(key []byte, kind string) (gameid.Cipher[any], string) {
	c, err := gameid.NewCipher[any](key, kind)
	switch {
	case err == nil:
		return c, ""
	case strings.Contains(err.Error(), "secret"):
		return c, fail("key")
	case strings.Contains(err.Error(), "kind"):
		return c, fail("kind")
	}
	panic(err)
}

func expectSeal(key []byte, kind, text string) string {
	c, failure := expectCipher(key, kind)
	if failure != "" {
		return failure
	}
	id, err := gameid.ParseOf[any](text)
	if err != nil {
		return parseFailure(err)
	}
	return "ok\t" + c.Seal(id).String()
}

func expectOpen(key []byte, kind, text string) string {
	c, failure := expectCipher(key, kind)
	if failure != "" {
		return failure
	}
	o, err := gameid.ParseOpaque[any](text)
	if err != nil {
		return parseFailure(err)
	}
	id, err := c.Open(o)
	if err != nil {
		return parseFailure(err)
	}
	return "ok\t" + id.String()
}

// numberFailure names the error of a short number.
func numberFailure(err error) string {
	switch text := err.Error(); {
	case strings.HasSuffix(text, "has more than 15 digits"):
		return fail("long")
	case strings.HasSuffix(text, "begins with 0"):
		return fail("zero")
	case strings.HasSuffix(text, "its last digit does not match the others"):
		return fail("mistyped")
	}
	return fail("form")
}

func expectNumber(input string) string {
	n, err := number.Parse(input)
	if err != nil {
		return numberFailure(err)
	}
	checked := 0
	if n.Checked() {
		checked = 1
	}
	return fmt.Sprintf("ok\t%d\t%s\t%d", n, n.Spaced(), checked)
}

func expectChecked(input string) string {
	n, err := number.ParseChecked(input)
	if err != nil {
		return numberFailure(err)
	}
	return fmt.Sprintf("ok\t%d", n)
}

func expectWithCheck(n int64) string {
	if n < 1 || n > int64(number.Max)/10 {
		return fail("range")
	}
	return fmt.Sprintf("ok\t%d", number.Number(n).WithCheck())
}

// The questions, as a reader gets them: a line of fields with tabs between
// them. What a stranger may have chosen is in hexadecimal.

type question struct{ line, want string }

func askText(input string) question {
	return question{"text\t" + hex.EncodeToString([]byte(input)), expectText(input)}
}

func askBytes(input []byte) question {
	return question{"bytes\t" + hex.EncodeToString(input), expectBytes(input)}
}

func askFields(millis, server, sequence int64) question {
	return question{fmt.Sprintf("fields\t%d\t%d\t%d", millis, server, sequence), expectFields(millis, server, sequence)}
}

func askCompare(a, b string) question {
	return question{"compare\t" + a + "\t" + b, expectCompare(a, b)}
}

func askSeal(key []byte, kind, text string) question {
	return question{fmt.Sprintf("seal\t%x\t%x\t%x", key, kind, text), expectSeal(key, kind, text)}
}

func askOpen(key []byte, kind, text string) question {
	return question{fmt.Sprintf("open\t%x\t%x\t%x", key, kind, text), expectOpen(key, kind, text)}
}

func askNumber(input string) question {
	return question{"number\t" + hex.EncodeToString([]byte(input)), expectNumber(input)}
}

func askChecked(input string) question {
	return question{"checked\t" + hex.EncodeToString([]byte(input)), expectChecked(input)}
}

func askWithCheck(n int64) question {
	return question{fmt.Sprintf("withcheck\t%d", n), expectWithCheck(n)}
}
