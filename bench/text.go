package main

import (
	"context"
	"runtime"

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

// texts lists writing an ID as text and reading it. Of each library it is the
// fastest form that it offers for the same work: text into a buffer that is
// there already, where it can do that, and reading that refuses bad text.
func texts(ctx context.Context) ([]candidate, error) {
	node, err := openNode(ctx, gameid.Options{})
	if err != nil {
		return nil, err
	}
	defer node.Close()
	g := gameid.NewGenerator[player](node)
	ids := make([]gameid.ID, set)
	var (
		own     = make([]string, set)
		raw     = make([][]byte, set)
		flakes  = make([]bwmarrin.ID, set)
		xids    = make([]xid.ID, set)
		objects = make([]bson.ObjectID, set)
		ulids   = make([]ulid.ULID, set)
		googles = make([]uuid.UUID, set)
		gofrses = make([]gofrs.UUID, set)
		typeids = make([]typeid.TypeID, set)
		ksuids  = make([]ksuid.KSUID, set)
	)
	flake, err := bwmarrin.NewNode(1)
	if err != nil {
		return nil, err
	}
	for i := range set {
		id, err := g.Next()
		if err != nil {
			return nil, err
		}
		ids[i], own[i] = id.ID(), id.String()
		bytes := id.Bytes()
		raw[i] = bytes[:]
		flakes[i] = flake.Generate()
		xids[i] = xid.New()
		objects[i] = bson.NewObjectID()
		ulids[i] = ulid.Make()
		googles[i] = uuid.Must(uuid.NewV7())
		gofrses[i] = gofrs.Must(gofrs.NewV7())
		typeids[i] = typeid.MustGenerate("player")
		ksuids[i] = ksuid.New()
	}

	writing := []candidate{
		{name: ourAppend, note: "20 hexadecimal digits", run: func(n int) error {
			buf := make([]byte, 0, 64)
			for i := range n {
				var err error
				if buf, err = ids[i%set].AppendText(buf[:0]); err != nil {
					return err
				}
			}
			runtime.KeepAlive(buf)
			return nil
		}},
		{name: "mergesafe String", run: func(n int) error {
			var last string
			for i := range n {
				last = ids[i%set].String()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "bwmarrin/snowflake String", note: "up to 19 decimal digits", run: func(n int) error {
			var last string
			for i := range n {
				last = flakes[i%set].String()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "rs/xid Encode", note: "20 characters of base 32", run: func(n int) error {
			buf := make([]byte, 20)
			for i := range n {
				buf = xids[i%set].Encode(buf)
			}
			runtime.KeepAlive(buf)
			return nil
		}},
		{name: "mongo ObjectID Hex", note: "24 hexadecimal digits", run: func(n int) error {
			var last string
			for i := range n {
				last = objects[i%set].Hex()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "oklog/ulid MarshalTextTo", note: "26 characters of base 32", run: func(n int) error {
			buf := make([]byte, ulid.EncodedSize)
			for i := range n {
				if err := ulids[i%set].MarshalTextTo(buf); err != nil {
					return err
				}
			}
			runtime.KeepAlive(buf)
			return nil
		}},
		{name: "google/uuid String", note: "36 characters", run: func(n int) error {
			var last string
			for i := range n {
				last = googles[i%set].String()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "gofrs/uuid String", note: "36 characters", run: func(n int) error {
			var last string
			for i := range n {
				last = gofrses[i%set].String()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "jetify typeid String", note: "kept as text, so nothing to do", run: func(n int) error {
			var last string
			for i := range n {
				last = typeids[i%set].String()
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "segmentio/ksuid Append", note: "27 characters of base 62", run: func(n int) error {
			buf := make([]byte, 0, 64)
			for i := range n {
				buf = ksuids[i%set].Append(buf[:0])
			}
			runtime.KeepAlive(buf)
			return nil
		}},
	}

	flakeTexts, xidTexts, objectTexts := textsOf(flakes), textsOf(xids), make([]string, set)
	for i, id := range objects {
		objectTexts[i] = id.Hex() // its String is for people
	}
	ulidTexts, googleTexts, gofrsTexts := textsOf(ulids), textsOf(googles), textsOf(gofrses)
	typeidTexts, ksuidTexts := textsOf(typeids), textsOf(ksuids)
	reading := []candidate{
		{name: ourParse, run: func(n int) error {
			var last gameid.ID
			for i := range n {
				id, err := gameid.Parse(own[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: ourScan, run: func(n int) error {
			// The driver's buffer arrives in an interface that the driver made.
			columns := make([]any, set)
			for i := range columns {
				columns[i] = raw[i]
			}
			var last gameid.ID
			for i := range n {
				if err := last.Scan(columns[i%set]); err != nil {
					return err
				}
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "bwmarrin/snowflake ParseString", run: func(n int) error {
			var last bwmarrin.ID
			for i := range n {
				id, err := bwmarrin.ParseString(flakeTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "rs/xid FromString", run: func(n int) error {
			var last xid.ID
			for i := range n {
				id, err := xid.FromString(xidTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "mongo ObjectIDFromHex", run: func(n int) error {
			var last bson.ObjectID
			for i := range n {
				id, err := bson.ObjectIDFromHex(objectTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "oklog/ulid ParseStrict", note: "its Parse does not look for bad characters", run: func(n int) error {
			var last ulid.ULID
			for i := range n {
				id, err := ulid.ParseStrict(ulidTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "google/uuid Parse", run: func(n int) error {
			var last uuid.UUID
			for i := range n {
				id, err := uuid.Parse(googleTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "gofrs/uuid FromString", run: func(n int) error {
			var last gofrs.UUID
			for i := range n {
				id, err := gofrs.FromString(gofrsTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "jetify typeid Parse", run: func(n int) error {
			var last typeid.TypeID
			for i := range n {
				id, err := typeid.Parse(typeidTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
		{name: "segmentio/ksuid Parse", run: func(n int) error {
			var last ksuid.KSUID
			for i := range n {
				id, err := ksuid.Parse(ksuidTexts[i%set])
				if err != nil {
					return err
				}
				last = id
			}
			runtime.KeepAlive(last)
			return nil
		}},
	}
	for i := range writing {
		writing[i].section, writing[i].peer = writingText, i >= 2
	}
	for i := range reading {
		reading[i].section, reading[i].peer = readingText, i >= 2
	}
	return append(writing, reading...), nil
}

func textsOf[T interface{ String() string }](ids []T) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}
