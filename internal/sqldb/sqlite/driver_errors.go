package sqlite

import (
	"reflect"
	"strings"
)

// sqliteError is what an error of a driver of SQLite says.
type sqliteError struct {
	code int // the extended one, if the driver tells it
	text string
}

// asSQLite finds the error of a driver of SQLite in err. Besides the driver of
// our own pools it knows others, which a game may use, without importing them:
// any type of a package whose path has sqlite in it, with fields (mattn) or
// methods (modernc, glebarez, ncruces) named ExtendedCode or Code.
func asSQLite(err error) (found sqliteError, ok bool) {
	if err == nil {
		return found, false
	}
	if code, ok := sqliteCode(reflect.ValueOf(err)); ok {
		return sqliteError{code, err.Error()}, true
	}
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		return asSQLite(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range wrapped.Unwrap() {
			if found, ok = asSQLite(err); ok {
				return found, ok
			}
		}
	}
	return found, false
}

func sqliteCode(v reflect.Value) (code int, ok bool) {
	value := reflect.Indirect(v)
	if !value.IsValid() || !strings.Contains(strings.ToLower(value.Type().PkgPath()), "sqlite") {
		return 0, false
	}
	for _, name := range []string{"ExtendedCode", "Code"} {
		if method := v.MethodByName(name); method.IsValid() && method.Type().NumIn() == 0 && method.Type().NumOut() == 1 {
			code, ok = integer(method.Call(nil)[0])
		} else if value.Kind() == reflect.Struct {
			code, ok = integer(value.FieldByName(name))
		}
		if ok && code != 0 { // mattn leaves the extended code out of some errors
			return code, true
		}
	}
	return integer(value) // a bare code that is an error, as mattn has
}

func integer(v reflect.Value) (int, bool) {
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return int(v.Int()), true
	case v.CanUint():
		return int(v.Uint()), true
	}
	return 0, false
}
