package main

import (
	"errors"

	bwmarrin "github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	influx "github.com/influxdata/influxdb/pkg/snowflake"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	"go.jetify.com/typeid/v2"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// peers lists every library that makes IDs which carry the time, and is measured. The note says what an ID carries, and how many
// there can be. Not measured, because the module proxy we build with does not have them: muyo/sno, edwingeng/wuid, sony/sonyflake v2,
// typeid v1.
func peers() ([]candidate, error) {
	flakes, err := bwmarrin.NewNode(1)
	ahead := influx.New(1)
	sony, err2 := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	// The setting is one of the whole package.
	unpooled := func() error { uuid.DisableRandPool(); return nil }
	pooled := func() error { uuid.EnableRandPool(); return nil }
	return []candidate{
		{name: "bwmarrin/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; spins at that limit", run: func(n int) error {
			return calls(n, func(int) bwmarrin.ID { return flakes.Generate() })
		}},
		{name: "influxdb pkg/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; runs ahead of the clock without limit", run: func(n int) error {
			return calls(n, func(int) uint64 { return ahead.Next() })
		}},
		// It waits most of the time: n is so large that one measurement has many waits.
		{name: "sony/sonyflake", note: "63 bits: 10 ms, 65,536 nodes, 256 IDs/10 ms; sleeps at that limit", n: 8 * 256, run: func(n int) error {
			return tries(n, func(int) (uint64, error) { return sony.NextID() })
		}},
		{name: "rs/xid", note: "96 bits: s, host, process, counter of 24 bits; needs no node number", run: func(n int) error {
			return calls(n, func(int) xid.ID { return xid.New() })
		}},
		{name: "mongo ObjectID", note: "96 bits: s, random process, counter of 24 bits; needs no node number", run: func(n int) error {
			return calls(n, func(int) bson.ObjectID { return bson.NewObjectID() })
		}},
		{name: "oklog/ulid", note: "128 bits: ms, 80 random; needs no node number", run: func(n int) error {
			return calls(n, func(int) ulid.ULID { return ulid.Make() })
		}},
		{name: "google/uuid v7", note: "128 bits: ms and 12 bits more, 62 random; needs no node number", before: unpooled, run: func(n int) error {
			return tries(n, func(int) (uuid.UUID, error) { return uuid.NewV7() })
		}},
		{name: "google/uuid v7, EnableRandPool", note: "the same with random bits in stock", before: pooled, run: func(n int) error {
			return tries(n, func(int) (uuid.UUID, error) { return uuid.NewV7() })
		}},
		{name: "gofrs/uuid v7", note: "128 bits: ms, 12 of sequence, 62 random; needs no node number; runs ahead beyond 2 M/s", run: func(n int) error {
			return tries(n, func(int) (gofrs.UUID, error) { return gofrs.NewV7() })
		}},
		{name: "jetify typeid", note: "a kind in text before a UUIDv7; needs no node number", run: func(n int) error {
			return tries(n, func(int) (typeid.TypeID, error) { return typeid.Generate("player") })
		}},
		{name: "segmentio/ksuid", note: "160 bits: s, 128 random, which cannot be guessed; needs no node number", run: func(n int) error {
			return tries(n, func(int) (ksuid.KSUID, error) { return ksuid.NewRandom() })
		}},
	}, errors.Join(err, err2)
}
