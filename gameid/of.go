package gameid

import (
	"database/sql/driver"
	"log/slog"
	"net/url"
	"time"
)

// Of is an [ID] of one kind of entity: Of[Player] and Of[Item] are different
// types, and code that gives one where the other is wanted does not compile. On disk,
// on the wire and as text they are the same 10 bytes and 20 digits.
//
// E is only a mark: use any type, usually the struct of the entity, which may itself
// hold an Of[E]. If a column or a JSON field may be null, use
// *Of[E] (or [database/sql.Null] for a column).
//
// All methods mean what they mean for [ID].
type Of[E any] struct {
	_  [0]*E // keeps Of[A](b) from compiling for a b of type Of[B]
	id ID
}

// As gives id the kind E. It is for places where the kind is known from
// elsewhere, such as a column or a path of a URL.
func As[E any](id ID) Of[E] { return Of[E]{id: id} }

// ParseOf reads the text of an ID that is known to be of kind E. See [Parse].
func ParseOf[E any](s string) (Of[E], error) {
	id, err := Parse(s)
	return As[E](id), err
}

// ID returns the ID without its kind, for code that handles IDs of several kinds.
func (o Of[E]) ID() ID { return o.id }

// IsValid is false for the zero value only, and IsZero true.
func (o Of[E]) IsValid() bool { return o.id.IsValid() }
func (o Of[E]) IsZero() bool  { return o.id.IsZero() }

// Compare orders two IDs of one kind as their bytes.
func (o Of[E]) Compare(other Of[E]) int { return o.id.Compare(other.id) }

// Millis, Time, Server and Sequence return the parts of the ID.
func (o Of[E]) Millis() int64    { return o.id.Millis() }
func (o Of[E]) Time() time.Time  { return o.id.Time() }
func (o Of[E]) Server() ServerID { return o.id.Server() }
func (o Of[E]) Sequence() uint16 { return o.id.Sequence() }

// Bytes, String, and the Append and Marshal methods write the ID.
func (o Of[E]) Bytes() [Size]byte                     { return o.id.Bytes() }
func (o Of[E]) String() string                        { return o.id.String() }
func (o Of[E]) AppendText(b []byte) ([]byte, error)   { return o.id.AppendText(b) }
func (o Of[E]) AppendBinary(b []byte) ([]byte, error) { return o.id.AppendBinary(b) }
func (o Of[E]) MarshalText() ([]byte, error)          { return o.id.MarshalText() }
func (o Of[E]) MarshalBinary() ([]byte, error)        { return o.id.MarshalBinary() }
func (o Of[E]) MarshalJSON() ([]byte, error)          { return o.id.MarshalJSON() }
func (o Of[E]) Value() (driver.Value, error)          { return o.id.Value() }

// Scan and the Unmarshal methods read it.
func (o *Of[E]) Scan(src any) error              { return o.id.Scan(src) }
func (o *Of[E]) UnmarshalText(text []byte) error { return o.id.UnmarshalText(text) }
func (o *Of[E]) UnmarshalBinary(b []byte) error  { return o.id.UnmarshalBinary(b) }
func (o *Of[E]) UnmarshalJSON(b []byte) error    { return o.id.UnmarshalJSON(b) }

// The other methods are for libraries that look for them by their names.
func (o Of[E]) LogValue() slog.Value                                 { return o.id.LogValue() }
func (o Of[E]) GormDataType() string                                 { return o.id.GormDataType() }
func (o Of[E]) TableName() string                                    { return o.id.TableName() }
func (o Of[E]) MarshalBSONValue() (typ byte, data []byte, err error) { return o.id.MarshalBSONValue() }
func (o *Of[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	return o.id.UnmarshalBSONValue(typ, data)
}
func (o Of[E]) MarshalBSON() ([]byte, error)                 { return o.id.MarshalBSON() }
func (o *Of[E]) UnmarshalBSON(data []byte) error             { return o.id.UnmarshalBSON(data) }
func (o Of[E]) EncodeValues(key string, v *url.Values) error { return o.id.EncodeValues(key, v) }
func (o *Of[E]) UnmarshalParam(param string) error           { return o.id.UnmarshalParam(param) }
func (o *Of[E]) ScanRedis(value string) error                { return o.id.ScanRedis(value) }
