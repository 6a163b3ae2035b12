package main

import (
	"context"
	"fmt"

	bwmarrin "github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.jetify.com/typeid/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"mergesafe/gameid"
)

// set is how many different IDs the text loops go through: too many for a
// branch predictor to learn, few enough for the cache.
const set = 1024

// many makes a set.
func many[T any](next func() T) []T {
	list := make([]T, set)
	for i := range list {
		list[i] = next()
	}
	return list
}

func textsOf[T fmt.Stringer](ids []T) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// texts lists writing an ID as text and reading it. Of each library it is the
// fastest form that it offers for the same work: text into a buffer that is
// there already, where it can do that, and reading that refuses bad text.
func texts(ctx context.Context) (writing, reading []candidate, err error) {
	node, err := openNode(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer node.Close()
	minted := make([]gameid.Of[player], set)
	if err := gameid.NewGenerator[player](node).Fill(minted); err != nil {
		return nil, nil, err
	}
	flake, err := bwmarrin.NewNode(1)
	if err != nil {
		return nil, nil, err
	}
	var (
		ids     = make([]gameid.ID, set)
		raw     = make([]any, set) // a driver's buffer arrives in an interface that the driver made
		flakes  = many(flake.Generate)
		xids    = many(xid.New)
		objects = many(bson.NewObjectID)
		ulids   = many(ulid.Make)
		googles = many(func() uuid.UUID { return uuid.Must(uuid.NewV7()) })
		gofrses = many(func() gofrs.UUID { return gofrs.Must(gofrs.NewV7()) })
		typeids = many(func() typeid.TypeID { return typeid.MustGenerate("player") })
		ksuids  = many(ksuid.New)
	)
	for i, id := range minted {
		bytes := id.Bytes()
		ids[i], raw[i] = id.ID(), bytes[:]
	}
	writing = []candidate{
		{name: "mergesafe AppendText", note: "20 hexadecimal digits", run: func(n int) error {
			buf := make([]byte, 0, 64)
			return tries(n, func(i int) ([]byte, error) { return ids[i%set].AppendText(buf) })
		}},
		{name: "mergesafe String", run: func(n int) error {
			return calls(n, func(i int) string { return ids[i%set].String() })
		}},
		{name: "bwmarrin/snowflake String", note: "up to 19 decimal digits", run: func(n int) error {
			return calls(n, func(i int) string { return flakes[i%set].String() })
		}},
		{name: "rs/xid Encode", note: "20 characters of base 32", run: func(n int) error {
			buf := make([]byte, 20)
			return calls(n, func(i int) []byte { return xids[i%set].Encode(buf) })
		}},
		{name: "mongo ObjectID Hex", note: "24 hexadecimal digits", run: func(n int) error {
			return calls(n, func(i int) string { return objects[i%set].Hex() })
		}},
		{name: "oklog/ulid MarshalTextTo", note: "26 characters of base 32", run: func(n int) error {
			buf := make([]byte, ulid.EncodedSize)
			return tries(n, func(i int) ([]byte, error) { return buf, ulids[i%set].MarshalTextTo(buf) })
		}},
		{name: "google/uuid String", note: "36 characters", run: func(n int) error {
			return calls(n, func(i int) string { return googles[i%set].String() })
		}},
		{name: "gofrs/uuid String", note: "36 characters", run: func(n int) error {
			return calls(n, func(i int) string { return gofrses[i%set].String() })
		}},
		{name: "jetify typeid String", note: "kept as text, so nothing to do", run: func(n int) error {
			return calls(n, func(i int) string { return typeids[i%set].String() })
		}},
		{name: "segmentio/ksuid Append", note: "27 characters of base 62", run: func(n int) error {
			buf := make([]byte, 0, 64)
			return calls(n, func(i int) []byte { return ksuids[i%set].Append(buf) })
		}},
	}

	own, flakeTexts, xidTexts, ulidTexts := textsOf(ids), textsOf(flakes), textsOf(xids), textsOf(ulids)
	googleTexts, gofrsTexts, typeidTexts, ksuidTexts := textsOf(googles), textsOf(gofrses), textsOf(typeids), textsOf(ksuids)
	objectTexts := make([]string, set)
	for i, id := range objects {
		objectTexts[i] = id.Hex() // its String is for people
	}
	reading = []candidate{
		{name: "mergesafe Parse", run: func(n int) error {
			return tries(n, func(i int) (gameid.ID, error) { return gameid.Parse(own[i%set]) })
		}},
		{name: "mergesafe Scan of 10 bytes", run: func(n int) error {
			return tries(n, func(i int) (id gameid.ID, err error) { err = id.Scan(raw[i%set]); return id, err })
		}},
		{name: "bwmarrin/snowflake ParseString", run: func(n int) error {
			return tries(n, func(i int) (bwmarrin.ID, error) { return bwmarrin.ParseString(flakeTexts[i%set]) })
		}},
		{name: "rs/xid FromString", run: func(n int) error {
			return tries(n, func(i int) (xid.ID, error) { return xid.FromString(xidTexts[i%set]) })
		}},
		{name: "mongo ObjectIDFromHex", run: func(n int) error {
			return tries(n, func(i int) (bson.ObjectID, error) { return bson.ObjectIDFromHex(objectTexts[i%set]) })
		}},
		{name: "oklog/ulid ParseStrict", note: "its Parse does not look for bad characters", run: func(n int) error {
			return tries(n, func(i int) (ulid.ULID, error) { return ulid.ParseStrict(ulidTexts[i%set]) })
		}},
		{name: "google/uuid Parse", run: func(n int) error {
			return tries(n, func(i int) (uuid.UUID, error) { return uuid.Parse(googleTexts[i%set]) })
		}},
		{name: "gofrs/uuid FromString", run: func(n int) error {
			return tries(n, func(i int) (gofrs.UUID, error) { return gofrs.FromString(gofrsTexts[i%set]) })
		}},
		{name: "jetify typeid Parse", run: func(n int) error {
			return tries(n, func(i int) (typeid.TypeID, error) { return typeid.Parse(typeidTexts[i%set]) })
		}},
		{name: "segmentio/ksuid Parse", run: func(n int) error {
			return tries(n, func(i int) (ksuid.KSUID, error) { return ksuid.Parse(ksuidTexts[i%set]) })
		}},
	}
	return writing, reading, nil
}
