package gameid

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of BSON that an ID is read from, by their numbers in bsonspec.org.
const (
	bsonString  = 0x02
	bsonBinary  = 0x05
	bsonGeneric = 0x00 // the subtype of plain bytes
)

// MarshalBSONValue returns id as a BSON string for the drivers of MongoDB. The
// zero ID is an error: use a pointer, or the option omitempty in the tag, where
// an ID may be missing.
func (id ID) MarshalBSONValue() (typ byte, data []byte, err error) {
	data = binary.LittleEndian.AppendUint32(make([]byte, 0, 4+TextSize+1), TextSize+1)
	if data, err = id.AppendText(data); err != nil {
		return 0, nil, err
	}
	return bsonString, append(data, 0), nil
}

// UnmarshalBSONValue reads a BSON string of 20 hexadecimal digits, or 10 bytes
// of binary data of the generic subtype. Anything else is an error. Then
// *id becomes the zero ID. A field that may be null is a pointer.
func (id *ID) UnmarshalBSONValue(typ byte, data []byte) (err error) {
	*id = ID{}
	switch {
	case typ == bsonString && len(data) == 4+TextSize+1 && binary.LittleEndian.Uint32(data) == TextSize+1 && data[4+TextSize] == 0:
		return id.UnmarshalText(data[4 : 4+TextSize])
	case typ == bsonBinary && len(data) == 5+Size && binary.LittleEndian.Uint32(data) == Size && data[4] == bsonGeneric:
		return id.UnmarshalBinary(data[5:])
	}
	return fmt.Errorf("gameid: a BSON value of type 0x%02x and %d bytes is not an ID: want a string of %d hexadecimal digits or %d bytes of binary data", typ, len(data), TextSize, Size)
}

// MarshalBSON and UnmarshalBSON return an error. Version 1 of the driver looks for them; without them it
// would take an ID for a struct without fields, store {}, and read that as the zero ID. Version 2 uses
// MarshalBSONValue and UnmarshalBSONValue instead.
func (id ID) MarshalBSON() ([]byte, error) { return nil, errBSONVersion1 }
func (id *ID) UnmarshalBSON([]byte) error {
	*id = ID{}
	return errBSONVersion1
}

var errBSONVersion1 = errors.New("gameid: version 1 of the MongoDB driver cannot store an ID: " +
	"use go.mongodb.org/mongo-driver/v2, or declare the field as string and store id.String()")

// errOpaqueStored is why no Opaque goes into a database.
var errOpaqueStored = errors.New("gameid: a sealed ID is not for a database: open it with its Cipher and store the ID")
