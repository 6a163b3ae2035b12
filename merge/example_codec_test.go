package merge_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge"
)

// inventory finds the items in cells that are a message of protobuf:
//
//	message Inventory { repeated uint64 items = 1 [packed = false]; string label = 2; }
//
// Fields that it does not know are copied byte by byte.
type inventory struct{}

func (inventory) Keys(message []byte) (keyed []keys.Integer, err error) {
	_, err = eachItem(message, func(item uint64) uint64 {
		keyed = append(keyed, keys.Integer{Bits: item})
		return item
	})
	return keyed, err
}

func (inventory) Splice(message []byte, keys []keys.Integer) ([]byte, error) {
	return eachItem(message, func(uint64) uint64 {
		item := keys[0].Bits
		keys = keys[1:]
		return item
	})
}

// eachItem copies a message, with what becomes of each item.
func eachItem(message []byte, becomes func(uint64) uint64) (out []byte, err error) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		value, m := binary.Uvarint(message[max(n, 0):])
		size := n + m
		switch {
		case n <= 0 || m <= 0:
			return nil, errors.New("a number is cut")
		case tag == 1<<3: // field 1, a varint
			out = binary.AppendUvarint(append(out, message[:n]...), becomes(value))
			message = message[size:]
			continue
		case tag&7 == 0: // another varint
		case tag&7 == 2 && value <= uint64(len(message)-size): // so many bytes
			size += int(value)
		default:
			return nil, fmt.Errorf("a field of the kind %d is not known, or is cut", tag&7)
		}
		out, message = append(out, message[:size]...), message[size:]
	}
	return out, nil
}

// A program of the game merges worlds with keys inside messages that no format covers: it
// hands its codec in, and the rules name it.
func Example_codec() {
	dir, err := os.MkdirTemp("", "codec")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	into := merge.Database{Name: "new", DSN: "sqlite:" + filepath.Join(dir, "new.db")}
	worlds := []merge.Database{codecWorld(dir, "s1"), codecWorld(dir, "s2")}

	codecs := keys.Codecs{"codec inventory": inventory{}}
	plan, err := merge.NewPlan(ctx, into, worlds, merge.PlanOptions{Check: rules.Options{
		Codecs: codecs,
		Rekey:  &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"items.id"}, Step: 1000}, {Keys: []string{"chests.id"}}}},
		Rules: []rules.Declarations{{
			Plain:      []string{"items.name"},
			References: []rules.DeclaredReference{{At: []string{"chests.content"}, To: []string{"items.id"}, Format: "codec inventory"}},
		}},
	}})
	if err != nil || len(plan.Refusals) > 0 {
		fmt.Println(err, plan)
		return
	}
	if _, err := merge.Apply(ctx, plan, into, worlds, merge.Options{}); err != nil {
		fmt.Println(err)
	}
	if _, err := merge.Apply(ctx, plan, into, worlds, merge.Options{Codecs: codecs}); err != nil {
		fmt.Println(err)
	}
	proof, err := merge.Verify(ctx, plan, into, worlds, merge.Options{Codecs: codecs})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(proof.Verdict)
	db, err := sql.Open("sqlite", filepath.Join(dir, "new.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	var content []byte
	err = db.QueryRow("SELECT content FROM chests WHERE id = 1001").Scan(&content)
	items, _ := inventory{}.Keys(content)
	fmt.Printf("%v in %q, %v\n", items, content, err)
	// Output:
	// merge: the plan cannot be carried out: the format "codec inventory" needs this codec, which was not given: pass it as an option of the Go API, or use a command: exec ./codec
	// PASS
	// [1002 1001] in "\b\xea\a\x12\x05Lea's\b\xe9\a", <nil>
}

// codecWorld makes a world with two items, which lie in a chest.
func codecWorld(dir, name string) merge.Database {
	file := filepath.Join(dir, name+".db")
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE items (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL);
			INSERT INTO items VALUES (1, 'sword'), (2, 'rope');
			CREATE TABLE chests (id INTEGER NOT NULL PRIMARY KEY, content BLOB NOT NULL);
			INSERT INTO chests VALUES (1, X'080212054C656127730801')`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		panic(err)
	}
	return merge.Database{Name: name, DSN: "sqlite:" + file}
}
