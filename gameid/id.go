package gameid

import (
	"cmp"
	"encoding/binary"
	"time"
)

// ID names one thing in one game, on every server and after every merge.
//
//	bit 79      73 72                 36 35          16 15         0
//	    [ era : 7 ][   time : 37 (ms)   ][ server : 20 ][ sequence:16 ]   10 bytes, big-endian
//	    '------ 44-bit ms since epoch --'
//
// Era and time together are milliseconds since 2025-01-01T00:00:00Z, so IDs
// last until the year 2582. The bytes, the text and [ID.Compare] all sort by
// time, then server, then sequence.
//
// As text an ID is 20 lower-case hexadecimal digits, which a person can read by eye: 11
// digits of time, 5 of server, 4 of sequence. It is what HEX(id) prints in the
// database, and 0x in front of it makes it an SQL literal. In JSON it is a string.
//
// An ID is a value: compare it with ==, use it as a map key, pass it around
// freely. The zero ID is invalid: it cannot be marshalled or stored. Every other ID
// that this package returns is valid.
type ID struct {
	hi uint64 // era, time and server: the first 8 bytes
	lo uint16 // sequence: the last 2 bytes
}

// Make puts an ID together. It returns a [*TimeError] if the layout cannot hold t, and
// a [*ServerError] if server is out of range. The part of t below a millisecond is
// dropped.
//
// Make is for tests, bounds of queries, and tools. Its result may repeat an ID that was
// issued before: take new IDs from a [Generator].
func Make(t time.Time, server ServerID, sequence uint16) (ID, error) {
	ms, err := MillisOf(t)
	if err != nil {
		return ID{}, err
	}
	if err := server.Validate(); err != nil {
		return ID{}, err
	}
	return ID{hi: uint64(ms)<<ServerBits | uint64(server), lo: sequence}, nil
}

// FromBytes reads the 10 bytes of an ID. It returns a [*ParseError] for any other
// length, and for server 0.
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, sizeError(b)
	}
	id := ID{hi: binary.BigEndian.Uint64(b), lo: binary.BigEndian.Uint16(b[8:])}
	if !id.IsValid() {
		return ID{}, &ParseError{Input: string(b), Offset: 5, Reason: zeroServer}
	}
	return id, nil
}

// IsValid reports whether id can name something. It is false for the zero ID
// only.
func (id ID) IsValid() bool { return id.hi&uint64(MaxServer) != 0 }

// Millis returns era and time as milliseconds since the epoch.
func (id ID) Millis() int64 { return int64(id.hi >> ServerBits) }

// Time returns the time of id, in UTC, to the millisecond. IDs may run ahead
// of the wall clock by as much as their node had reserved; see [Node].
func (id ID) Time() time.Time { return TimeOf(id.Millis()) }

// Server returns the server that made id.
func (id ID) Server() ServerID { return ServerID(id.hi) & MaxServer }

// Sequence returns the position of id among those of its server and
// millisecond.
func (id ID) Sequence() uint16 { return id.lo }

// Compare returns -1, 0 or +1 as id sorts before, with or after other. The
// order is that of the bytes and of the text.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(id.hi, other.hi); c != 0 {
		return c
	}
	return cmp.Compare(id.lo, other.lo)
}

// Bytes returns the 10 bytes of id, big-endian.
func (id ID) Bytes() [Size]byte {
	var b [Size]byte
	binary.BigEndian.PutUint64(b[:], id.hi)
	binary.BigEndian.PutUint16(b[8:], id.lo)
	return b
}

// AppendBinary appends the 10 bytes of id to b. The zero ID is an error.
func (id ID) AppendBinary(b []byte) ([]byte, error) {
	if !id.IsValid() {
		return b, ErrZeroID
	}
	b = binary.BigEndian.AppendUint64(b, id.hi)
	return binary.BigEndian.AppendUint16(b, id.lo), nil
}

// MarshalBinary returns the 10 bytes of id. The zero ID is an error.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(make([]byte, 0, Size)) }

// UnmarshalBinary reads what [ID.MarshalBinary] wrote. It also reads the 20 digits, because
// go-redis calls only this method for both. On error *id becomes the zero ID.
func (id *ID) UnmarshalBinary(b []byte) (err error) {
	if len(b) == TextSize {
		return id.UnmarshalText(b)
	}
	*id, err = FromBytes(b)
	return err
}
