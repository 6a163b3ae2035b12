package clitest

import (
	"encoding"
	"reflect"
	"regexp"
	"strings"
)

// Fields lists the fields of the JSON form of a type, as paths, such as
// "worlds[].name". What a type of its own writes as text has no fields.
func Fields(t reflect.Type) []string { return fields("", t) }

func fields(path string, t reflect.Type) []string {
	var all []string
	switch {
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
	case t.Kind() == reflect.Pointer:
		return fields(path, t.Elem())
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return fields(path+"[]", t.Elem())
	case t.Kind() == reflect.Struct:
		if path != "" {
			all = append(all, path)
			path += "."
		}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "-" || !t.Field(i).IsExported() {
				continue // not part of it
			}
			if t.Field(i).Anonymous && name == "" { // its fields are those of the whole
				for _, inner := range fields("", t.Field(i).Type) {
					all = append(all, path+inner)
				}
				continue
			}
			all = append(all, fields(path+name, t.Field(i).Type)...)
		}
		return all
	}
	return []string{path}
}

// Documented lists the fields that a help text documents, as paths. Each field has a line,
// indented by two spaces more than the field that contains it.
func Documented(text string) []string {
	var all, above []string
	for _, m := range regexp.MustCompile(`(?m)^((?:  ){1,6})\.?([a-z_0-9]+(?:\[\])*)( |$)`).FindAllStringSubmatch(text, -1) {
		depth := len(m[1])/2 - 1
		above = append(above[:depth], m[2])
		all = append(all, strings.Join(above, "."))
	}
	return all
}
