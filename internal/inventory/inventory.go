// Package inventory is a bag of items as a game may keep it in a cell, for tests of codecs: a
// message of protobuf in which no format finds the keys, with the command that finds them.
//
//	message Bag  { repeated Slot slots = 1; string note = 2; }
//	message Slot { uint64 item = 1; uint32 count = 2; }
package inventory

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bag makes a cell: for each item a slot with a count, and a note behind.
func Bag(note string, items ...uint64) (b []byte) {
	for i, item := range items {
		slot := binary.AppendUvarint([]byte{1 << 3}, item)
		slot = binary.AppendUvarint(append(slot, 2<<3), uint64(i+1))
		b = append(append(b, 1<<3|2, byte(len(slot))), slot...)
	}
	return append(append(b, 2<<3|2, byte(len(note))), note...)
}

// Codec finds the items of bags. Lie names its error: "identity" (it loses a note that is empty),
// "swap" (new keys go into each other's place), "drop" (the last key stays old), and for the
// command: "hang", "die", "garbage", "older" (it answers the request before), "extra" (two
// lines for one); "" if nothing.
type Codec struct{ Lie string }

// Keys returns the items of a bag.
func (c Codec) Keys(bag []byte) (keys []uint64, err error) {
	_, err = walk(bag, 0, func(item uint64) (uint64, error) {
		keys = append(keys, item)
		return item, nil
	})
	return keys, err
}

// Splice returns the bag with other items.
func (c Codec) Splice(bag []byte, keys []uint64) ([]byte, error) {
	olds, err := c.Keys(bag)
	if err != nil {
		return nil, err
	}
	news := slices.Clone(keys)
	switch {
	case len(olds) != len(keys):
		return nil, fmt.Errorf("%d keys for %d slots", len(keys), len(olds))
	case c.Lie == "identity":
		bag = bag[:len(bag)-2] // an empty note
	case c.Lie == "swap" && !slices.Equal(olds, news):
		slices.Reverse(news)
	case c.Lie == "drop":
		news[len(news)-1] = olds[len(olds)-1]
	}
	next := 0
	return walk(bag, 0, func(uint64) (uint64, error) {
		next++
		return news[next-1], nil
	})
}

// walk copies a message, and asks for each item.
func walk(b []byte, depth int, item func(uint64) (uint64, error)) (out []byte, err error) {
	number := func() (v uint64) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err, n = errors.New("a number is cut"), len(b)
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 && err == nil {
		tag := number()
		out = binary.AppendUvarint(out, tag)
		v := number()
		switch {
		case err != nil:
		case tag == 1<<3 && depth == 1:
			v, err = item(v)
			out = binary.AppendUvarint(out, v)
		case tag&7 == 0:
			out = binary.AppendUvarint(out, v)
		case tag&7 == 2 && v <= uint64(len(b)):
			part := b[:v]
			b = b[v:]
			if tag>>3 == 1 && depth == 0 {
				part, err = walk(part, 1, item)
			}
			out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
		default:
			err = fmt.Errorf("a field of the kind %d", tag&7)
		}
	}
	return out, err
}

// Serve is the command: it answers lines of JSON until they end.
func (c Codec) Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	last := ""
	for lines.Scan() {
		answer := c.answer(lines.Text())
		switch c.Lie {
		case "hang":
			time.Sleep(time.Hour)
		case "die":
			fmt.Fprintf(os.Stderr, "%s\nno such \x1b[31mtable of items\n", strings.Repeat("x", 5000))
			os.Exit(3)
		case "garbage":
			answer = "ready."
		case "older":
			answer, last = last, answer
			answer = cmp.Or(answer, last)
		case "extra":
			answer += "\n" + answer
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// answer is written without a look at the program that asks.
func (c Codec) answer(line string) string {
	var asked map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&asked); err != nil {
		return err.Error()
	}
	bag, err := base64.StdEncoding.DecodeString(asked["cell"].(string))
	said := fmt.Sprintf(`{"n":%s,`, asked["n"])
	if texts, given := asked["keys"].([]any); given && err == nil {
		var keys []uint64
		for _, text := range texts {
			n, numberErr := strconv.ParseUint(text.(string), 10, 64)
			keys, err = append(keys, n), errors.Join(err, numberErr)
		}
		if err == nil {
			bag, err = c.Splice(bag, keys)
		}
		said += `"cell":"` + base64.StdEncoding.EncodeToString(bag) + `"}`
	} else if err == nil {
		var keys []uint64
		keys, err = c.Keys(bag)
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(keys), "[]"), " ", `","`)
		if list != "" {
			list = `"` + list + `"`
		}
		said += `"keys":[` + list + `]}`
	}
	if err != nil {
		return fmt.Sprintf(`{"n":%s,"error":%q}`, asked["n"], err.Error())
	}
	return said
}
