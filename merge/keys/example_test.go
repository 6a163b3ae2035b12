package keys_test

import (
	"fmt"

	"mergesafe/merge/keys"
)

// shift is what becomes of the keys of a world.
func shift(k keys.CellKey) (keys.Integer, error) {
	v, ok := (&keys.Shift{By: 20_000_000}).Image(k.Value)
	if !ok {
		return v, fmt.Errorf("no key is that large")
	}
	return v, nil
}

func splice(format, text string) {
	f, err := keys.Parse(format)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Splice([]byte(text), shift)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", out)
}

func ExampleFormat_Keys() {
	f, err := keys.Parse("list sep=' ' every=2+0")
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := f.Keys([]byte("4711 x 12 y "))
	for _, k := range keys {
		fmt.Println(k.Value, "at", k.Start)
	}
	fmt.Println(err)
	// Output:
	// 4711 at 0
	// 12 at 7
	// <nil>
}

func ExampleFormat_Splice() {
	splice("list sep=' ' pos=0", "4711 0 0 17")
	splice("regex '^([0-9A-F]+):' base=16 upper", "4D2:100:5")
	splice("json '$.a[*].id'", `{"a": [{"id": 4711}, {"id": "12"}]}`)
	splice("bits 0..31 tag 48..63=0x4000", "4611686018427387981")
	splice("list sep=';' every then list sep=':' pos=0", "5:1;7:2")
	splice("list sep=' ' pos=0", "4711x 0 0")
	// Output:
	// 20004711 0 0 17
	// 13131D2:100:5
	// {"a": [{"id": 20004711}, {"id": "20000012"}]}
	// 4611686018447387981
	// 20000005:1;20000007:2
	// byte 0: "4711x": want a whole number, from -2^63 to 2^64-1, without leading zeros
}

func ExampleFormat_Splice_blobs() {
	records, _ := keys.Parse("records size=6 at=1 len=4 le empty=0xFFFFFFFF")
	out, err := records.Splice([]byte("a\x05\x00\x00\x00bc\xff\xff\xff\xffd"), shift)
	fmt.Printf("% x %v\n", out, err)
	array, _ := keys.Parse("array count=u16le elem=u32be")
	out, err = array.Splice([]byte("\x01\x00\x00\x00\x00\x05"), shift)
	fmt.Printf("% x %v\n", out, err)
	// Output:
	// 61 05 2d 31 01 62 63 ff ff ff ff 64 <nil>
	// 01 00 01 31 2d 05 <nil>
}

func ExampleWords() {
	w, err := keys.ParseWords("words [card2, card3]")
	if err != nil {
		fmt.Println(err)
		return
	}
	cells, err := w.Splice([][]byte{[]byte("4711"), []byte("0")}, shift)
	fmt.Printf("%s = %s, %v\n", w.Columns(), cells, err)
	// Output:
	// [card2 card3] = [16231 305], <nil>
}

func ExampleParse() {
	_, err := keys.Parse("list sep=' ' every=2")
	fmt.Println(err)
	_, err = keys.Parse("phpserialize")
	fmt.Println(err)
	// Output:
	// format "list sep=' ' every=2": at character 14: want every=2+1: how many elements a group has, and which one is the key, counted from 0
	// format "phpserialize": at character 1: "phpserialize" is not a format: known are list, regex, json, bits, records and array; words covers several columns; codec and exec are the game's own
}
