// Package keys is about keys that every world counts from 1, and about what happens to them in a
// merge: numbers, sets, offsets, the values of a column that name nothing, conditions on rows, and
// keys inside cells: texts, blobs and integers that hold them. It knows no database.
//
// # Keys inside cells
//
// A format says where the keys of a cell are and how they are written. [Parse] reads it.
// [Format.Keys] lists the keys of a cell. [Format.Splice] gives them new values and leaves
// every other byte of the cell as it is.
//
//	list sep=' ' pos=0              element 0 of a list; elements are counted from 0
//	list sep=',' every              every element of a list
//	list sep=',' every=2+1          element 1 of every 2: elements 1, 3, 5 and so on
//	regex 'item:([0-9]+)'           the group of every match
//	regex '^([0-9A-F]+):' group=1 base=16 upper width=16 pad='0'
//	json '$.items[*].id'            the numbers at a path of JSON
//	bits 0..31 tag 48..63=0x4000    some bits of a number, if other bits have a value
//	records size=16 at=3 len=4 le empty=0xFFFFFFFF
//	array count=u32le elem=u64le    a count and then as many numbers
//	words [card2, card3]            a key whose parts are in several columns: see [Words]
//
// Two formats are joined by then: the second one reads what the first one finds.
//
//	list sep=';' every then list sep=':' pos=0
//	json '$.mail' then json '$.sender'
//	array count=u32le elem=u64le then bits 0..31 tag 48..63=0x4000
//
// What none of these covers has a codec of the game's own, [Codec], which stands alone:
//
//	codec inventory                 that a program hands in
//	exec ./codec items              a command: see [Command]
//
// Texts (a separator, an expression, a path, a pad character) are put in single quotes; a
// quote in a text is written twice, and nothing else is escaped. Numbers are decimal, or
// hexadecimal after 0x. The comment of each format's type says exactly what it reads, and
// what is an error: see list.go, regex.go, json.go, bits.go, records.go, array.go and
// words.go, or ask for "go doc -u keys.list".
//
// # What is promised
//
//   - A cell that does not have its format is an error, never a cell without keys. The
//     error has the position, counted from 0, and quotes the bytes at fault.
//   - An empty cell has no keys. NULL is an empty cell. Of formats that are joined by then,
//     the same holds for the bytes that the first one finds.
//   - A number counts in its canonical form only, so that there is one way to write it:
//     007, +7 and 7.0 are errors.
//   - If Splice gives every key its old value, the result has the same bytes. If the keys
//     get new values and then their old ones, the result has the same bytes.
//   - Splice reads what it wrote. If the format does not find the new keys there, Splice
//     returns an error.
//
// A text may become longer. Whether the column has room for it, the caller must check.
//
// # Commands
//
// A command is started once, when the first cell is read. It reads one line of JSON for each
// request, and writes one for each answer, before it reads the next:
//
//	{"n":1,"cell":"CgMIlyQ="}                       which keys are in this cell?
//	{"n":1,"keys":["4711"]}
//	{"n":2,"cell":"CgMIlyQ=","keys":["20004711"]}   the cell with these keys, please
//	{"n":2,"cell":"CgUIp4DFCQ=="}
//	{"n":3,"cell":"AAAA"}
//	{"n":3,"error":"byte 0: no field has the number 0"}
//
// A cell is in base64. Keys are texts of decimal digits, since numbers of JavaScript end at
// 2^53, in an order that is always the same; a cell without any has "keys":[]. New keys are
// as many as the command found, in its order. n is that of the request. At the end of its
// input the command ends. An error is about the cell; what else the command has to say goes
// to its standard error, and is shown if it fails.
//
// The command is found as a shell finds it, and a path is relative to the working directory.
// It gets few variables of the environment ([Environment]): passwords may be among the
// others. On Unix it has a process group of its own, and is killed with all of it.
package keys
