package gameid

import (
	"log/slog"
	"net/url"
)

// Methods that libraries look for by name. gorm.go and bson.go have the others.

// IsZero is the opposite of IsValid. It is what the options omitzero of JSON,
// omitempty of BSON, YAML and go-querystring, and nullzero of bun go by.
func (id ID) IsZero() bool { return !id.IsValid() }

// LogValue logs the 20 digits of id, and "zero" for the zero ID.
func (id ID) LogValue() slog.Value {
	if !id.IsValid() {
		return slog.StringValue("zero")
	}
	return slog.StringValue(id.String())
}

// UnmarshalParam reads a part of a path, a query or a form for gin and echo, as
// [Parse] does. On error *id becomes the zero ID.
func (id *ID) UnmarshalParam(param string) (err error) {
	*id, err = Parse(param)
	return err
}

// ScanRedis reads a field of a hash for go-redis: 20 hexadecimal digits, or the
// 10 bytes that go-redis writes if it is given an ID. On error *id becomes the
// zero ID.
func (id *ID) ScanRedis(value string) error { return id.Scan(value) }

// EncodeValues adds the 20 digits of id to a query for go-querystring. The zero ID is an error, and so is a
// nil pointer: use the option omitempty in the tag where an ID may be missing.
func (id ID) EncodeValues(key string, v *url.Values) error {
	text, err := id.MarshalText()
	if err == nil {
		v.Add(key, string(text))
	}
	return err
}

// UnmarshalParam reads a part of a path, a query or a form for gin and echo, as
// [ParseOpaque] does. On error *o becomes the zero Opaque.
func (o *Opaque[E]) UnmarshalParam(param string) (err error) {
	*o, err = ParseOpaque[E](param)
	return err
}

// EncodeValues adds the 20 digits of o to a query, as [ID.EncodeValues] does.
func (o Opaque[E]) EncodeValues(key string, v *url.Values) error {
	text, err := o.MarshalText()
	if err == nil {
		v.Add(key, string(text))
	}
	return err
}

// IsZero is the opposite of IsValid, for the same options as [ID.IsZero].
func (o Opaque[E]) IsZero() bool { return !o.ok }

// LogValue logs the 20 digits of o, and "zero" for the zero Opaque.
func (o Opaque[E]) LogValue() slog.Value {
	if !o.ok {
		return slog.StringValue("zero")
	}
	return slog.StringValue(o.String())
}

// The methods of BSON return an error: MongoDB is a database, too.
func (o Opaque[E]) MarshalBSON() ([]byte, error) { return nil, errOpaqueStored }
func (o *Opaque[E]) UnmarshalBSON([]byte) error {
	*o = Opaque[E]{}
	return errOpaqueStored
}
func (o Opaque[E]) MarshalBSONValue() (typ byte, data []byte, err error) {
	return 0, nil, errOpaqueStored
}
func (o *Opaque[E]) UnmarshalBSONValue(typ byte, data []byte) error {
	*o = Opaque[E]{}
	return errOpaqueStored
}

// TableName panics, for the same reason as [ID.TableName].
func (o Opaque[E]) TableName() string { panic(noModelOpaque) }
