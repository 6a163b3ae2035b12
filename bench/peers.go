package main

import (
	"encoding/binary"
	"runtime"

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

// peer is a library that makes IDs which carry the time.
type peer struct {
	name    string
	note    string // what an ID carries, and how many there can be
	ordered bool   // means the IDs of one process to rise, by its documentation or its code

	// Where a library waits most of the time, n is how many IDs one measurement
	// takes, so that it has many waits, and most is how many the stress asks
	// for. 0 means what the others get.
	n, most int

	open func() (minting, error)
}

// minting is a generator at work. Any number of goroutines may use it.
type minting struct {
	run    func(n int) error   // mints n IDs
	next   func() (key, error) // mints one, for the stress
	before func() error        // see candidate
}

// key holds any ID, in the order of its bytes.
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

// peers lists every library that is measured. Not measured, because the module
// proxy we build with does not have them: muyo/sno, edwingeng/wuid,
// sony/sonyflake v2, typeid v1.
func peers() []peer {
	return []peer{
		{
			name: "bwmarrin/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; spins at that limit",
			ordered: true,
			open: func() (minting, error) {
				node, err := bwmarrin.NewNode(1)
				return minting{
					run: func(n int) error {
						var last bwmarrin.ID
						for range n {
							last = node.Generate()
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) { return keyOfInt(uint64(node.Generate())), nil },
				}, err
			},
		},
		{
			name: "influxdb pkg/snowflake", note: "64 bits: ms, 1,024 nodes, 4,096 IDs/ms; runs ahead of the clock without limit",
			ordered: true,
			open: func() (minting, error) {
				g := influx.New(1)
				return minting{
					run: func(n int) error {
						var last uint64
						for range n {
							last = g.Next()
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) { return keyOfInt(g.Next()), nil },
				}, nil
			},
		},
		{
			name: "sony/sonyflake", note: "63 bits: 10 ms, 65,536 nodes, 256 IDs/10 ms; sleeps at that limit",
			ordered: true, n: 8 * 256, most: 64 * 400,
			open: func() (minting, error) {
				g, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
				return minting{
					run: func(n int) error {
						var last uint64
						for range n {
							id, err := g.NextID()
							if err != nil {
								return err
							}
							last = id
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id, err := g.NextID()
						return keyOfInt(id), err
					},
				}, err
			},
		},
		{
			name: "rs/xid", note: "96 bits: s, host, process, counter of 24 bits; needs no node number",
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last xid.ID
						for range n {
							last = xid.New()
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id := xid.New()
						return keyOf(id[:]), nil
					},
				}, nil
			},
		},
		{
			name: "mongo ObjectID", note: "96 bits: s, random process, counter of 24 bits; needs no node number",
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last bson.ObjectID
						for range n {
							last = bson.NewObjectID()
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id := bson.NewObjectID()
						return keyOf(id[:]), nil
					},
				}, nil
			},
		},
		{
			name: "oklog/ulid", note: "128 bits: ms, 80 random; needs no node number",
			ordered: true,
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last ulid.ULID
						for range n {
							last = ulid.Make()
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id := ulid.Make()
						return keyOf(id[:]), nil
					},
				}, nil
			},
		},
		googleUUID("google/uuid v7", "128 bits: ms and 12 bits more, 62 random; needs no node number", uuid.DisableRandPool),
		googleUUID("google/uuid v7, EnableRandPool", "the same with random bits in stock", uuid.EnableRandPool),
		{
			name: "gofrs/uuid v7", note: "128 bits: ms, 12 of sequence, 62 random; needs no node number; runs ahead beyond 2 M/s",
			ordered: true,
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last gofrs.UUID
						for range n {
							id, err := gofrs.NewV7()
							if err != nil {
								return err
							}
							last = id
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id, err := gofrs.NewV7()
						return keyOf(id[:]), err
					},
				}, nil
			},
		},
		{
			name: "jetify typeid", note: "a kind in text before a UUIDv7; needs no node number",
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last typeid.TypeID
						for range n {
							id, err := typeid.Generate("player")
							if err != nil {
								return err
							}
							last = id
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id, err := typeid.Generate("player")
						return keyOf(id.Bytes()), err
					},
				}, nil
			},
		},
		{
			name: "segmentio/ksuid", note: "160 bits: s, 128 random that nobody can guess; needs no node number",
			open: func() (minting, error) {
				return minting{
					run: func(n int) error {
						var last ksuid.KSUID
						for range n {
							id, err := ksuid.NewRandom()
							if err != nil {
								return err
							}
							last = id
						}
						runtime.KeepAlive(last)
						return nil
					},
					next: func() (key, error) {
						id, err := ksuid.NewRandom()
						return keyOf(id[:]), err
					},
				}, nil
			},
		},
	}
}

// googleUUID is the package in one of its two settings, which are global.
func googleUUID(name, note string, set func()) peer {
	return peer{
		name: name, note: note, ordered: true,
		open: func() (minting, error) {
			return minting{
				before: func() error { set(); return nil },
				run: func(n int) error {
					var last uuid.UUID
					for range n {
						id, err := uuid.NewV7()
						if err != nil {
							return err
						}
						last = id
					}
					runtime.KeepAlive(last)
					return nil
				},
				next: func() (key, error) {
					id, err := uuid.NewV7()
					return keyOf(id[:]), err
				},
			}, nil
		},
	}
}
