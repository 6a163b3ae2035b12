package main

import (
	"encoding/binary"
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

// peer is a library that makes IDs which carry the time. Any number of
// goroutines may use it.
type peer struct {
	name    string
	note    string // what an ID carries, and how many there can be
	ordered bool   // means the IDs of one process to rise, by its documentation or its code

	run    func(n int) error   // mints n IDs
	next   func() (key, error) // mints one, for the stress
	before func() error        // see candidate

	// Where a library waits most of the time, n is how many IDs one measurement
	// takes, so that it has many waits, and most is how many the stress asks
	// for. 0 means what the others get.
	n, most int
}

// mint is the mintings of a peer.
func (p peer) mint(_ int, dst []key) (err error) {
	for i := range dst {
		if dst[i], err = p.next(); err != nil {
			return err
		}
	}
	return nil
}

// key holds any ID, in the order of its bytes. Millions are sorted, which takes
// a third of the time that it takes with bytes.
type key struct {
	a, b uint64
	c    uint32
}

func (k key) compare(other key) int {
	switch {
	case k == other:
		return 0
	case k.a < other.a, k.a == other.a && k.b < other.b, k.a == other.a && k.b == other.b && k.c < other.c:
		return -1
	}
	return 1
}

func keyOf(id []byte) key {
	var b [20]byte
	copy(b[:], id)
	return key{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[16:])}
}

func keyOfInt(id uint64) key { return key{a: id} }

// peers lists every library that is measured, with new generators. Not
// measured, because the module proxy we build with does not have them:
// muyo/sno, edwingeng/wuid, sony/sonyflake v2, typeid v1.
func peers() ([]peer, error) {
	flakes, err := bwmarrin.NewNode(1)
	ahead := influx.New(1)
	sony, err2 := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	google := peer{
		ordered: true,
		run:     func(n int) error { return tries(n, func(int) (uuid.UUID, error) { return uuid.NewV7() }) },
		next:    func() (key, error) { id, err := uuid.NewV7(); return keyOf(id[:]), err },
	}
	pooled := google
	google.name, google.note = "google/uuid v7", "128 bits: ms and 12 bits more, 62 random; needs no node number"
	pooled.name, pooled.note = "google/uuid v7, EnableRandPool", "the same with random bits in stock"
	// The setting is one of the whole package.
	google.before = func() error { uuid.DisableRandPool(); return nil }
	pooled.before = func() error { uuid.EnableRandPool(); return nil }
	return []peer{
		{
			name: "bwmarrin/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; spins at that limit",
			ordered: true,
			run:     func(n int) error { return calls(n, func(int) bwmarrin.ID { return flakes.Generate() }) },
			next:    func() (key, error) { return keyOfInt(uint64(flakes.Generate())), nil },
		},
		{
			name: "influxdb pkg/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; runs ahead of the clock without limit",
			ordered: true,
			run:     func(n int) error { return calls(n, func(int) uint64 { return ahead.Next() }) },
			next:    func() (key, error) { return keyOfInt(ahead.Next()), nil },
		},
		{
			name: "sony/sonyflake", note: "63 bits: 10 ms, 65,536 nodes, 256 IDs/10 ms; sleeps at that limit",
			ordered: true, n: 8 * 256, most: 64 * 400,
			run:  func(n int) error { return tries(n, func(int) (uint64, error) { return sony.NextID() }) },
			next: func() (key, error) { id, err := sony.NextID(); return keyOfInt(id), err },
		},
		{
			name: "rs/xid", note: "96 bits: s, host, process, counter of 24 bits; needs no node number",
			run:  func(n int) error { return calls(n, func(int) xid.ID { return xid.New() }) },
			next: func() (key, error) { return keyOf(xid.New().Bytes()), nil },
		},
		{
			name: "mongo ObjectID", note: "96 bits: s, random process, counter of 24 bits; needs no node number",
			run:  func(n int) error { return calls(n, func(int) bson.ObjectID { return bson.NewObjectID() }) },
			next: func() (key, error) { id := bson.NewObjectID(); return keyOf(id[:]), nil },
		},
		{
			name: "oklog/ulid", note: "128 bits: ms, 80 random; needs no node number",
			ordered: true,
			run:     func(n int) error { return calls(n, func(int) ulid.ULID { return ulid.Make() }) },
			next:    func() (key, error) { return keyOf(ulid.Make().Bytes()), nil },
		},
		google,
		pooled,
		{
			name: "gofrs/uuid v7", note: "128 bits: ms, 12 of sequence, 62 random; needs no node number; runs ahead beyond 2 M/s",
			ordered: true,
			run:     func(n int) error { return tries(n, func(int) (gofrs.UUID, error) { return gofrs.NewV7() }) },
			next:    func() (key, error) { id, err := gofrs.NewV7(); return keyOf(id[:]), err },
		},
		{
			name: "jetify typeid", note: "a kind in text before a UUIDv7; needs no node number",
			run: func(n int) error {
				return tries(n, func(int) (typeid.TypeID, error) { return typeid.Generate("player") })
			},
			next: func() (key, error) { id, err := typeid.Generate("player"); return keyOf(id.Bytes()), err },
		},
		{
			name: "segmentio/ksuid", note: "160 bits: s, 128 random, which cannot be guessed; needs no node number",
			run:  func(n int) error { return tries(n, func(int) (ksuid.KSUID, error) { return ksuid.NewRandom() }) },
			next: func() (key, error) { id, err := ksuid.NewRandom(); return keyOf(id[:]), err },
		},
	}, errors.Join(err, err2)
}
