package strict

import "slices"

// Shape is what a reader asks of a section: the keys that it knows, and what each may hold. It comes
// from the reader itself, so it cannot differ from what is read.
type Shape struct {
	Keys []*Key // in the order in which the reader asks for them
	Any  *Key   // all other keys, if their names are the writer's; nil if there are none

	OneOf []string // keys of which exactly one is there; nil: any
}

// Key is one key of a section.
type Key struct {
	Name     string
	Types    []Type
	Words    []string // the only texts that it may hold, alone or in its list; nil: any
	Required bool
}

// Type is a type of the values of a key. Kind is "text", "integer", "boolean", "list", "table" or
// "tables": a section, or several of one name.
type Type struct {
	Kind            string
	Lowest, Highest int64  // of an integer
	Pattern         string // of texts, a regular expression; "": any
	Items           []Type // of a list
	Least           int    // entries of a list
	Section         *Shape // of a table
}

// ShapeOf returns what a reader asks of a file. It calls the reader with a section that has no keys, so the
// reader must read whatever the section lacks.
func ShapeOf(read func(root *Section)) *Shape {
	shape := new(Shape)
	read(&Section{doc: new(document), shape: shape})
	return shape
}

// Asked reports that the section is only asked for its shape, so that its keys say nothing.
func (s *Section) Asked() bool { return s.shape != nil }

// Key returns the key of a name; nil if the reader does not ask for it.
func (s *Shape) Key(name string) *Key {
	if i := slices.IndexFunc(s.Keys, func(k *Key) bool { return k.Name == name }); i >= 0 {
		return s.Keys[i]
	}
	return nil
}

func (s *Shape) key(name string) *Key {
	k := s.Key(name)
	if k == nil {
		k = &Key{Name: name}
		s.Keys = append(s.Keys, k)
	}
	return k
}

// may notes that a key may hold a value of a type.
func (s *Section) may(name string, t Type) {
	if s.shape == nil {
		return
	}
	k := s.shape.key(name)
	same := func(other Type) bool { return other.Kind == t.Kind && len(other.Items) == len(t.Items) }
	if !slices.ContainsFunc(k.Types, same) {
		k.Types = append(k.Types, t)
	}
}

// describe lets read say what a section of a key holds.
func (s *Section) describe(name, kind string, read func(*Section)) {
	below := new(Shape)
	for _, t := range s.shape.key(name).Types {
		if t.Section != nil {
			below = t.Section
		}
	}
	s.may(name, Type{Kind: kind, Section: below})
	read(&Section{doc: s.doc, name: s.path(name), shape: below})
}

// One says that exactly one of some keys must be there, for schemas. The reader itself makes sure of it.
func (s *Section) One(keys ...string) {
	if s.shape != nil {
		s.shape.OneOf = keys
	}
}

// Only says which texts a key may hold, alone or in its list, for schemas. What is read is for a check to say.
func (s *Section) Only(key string, words ...string) {
	if s.shape != nil {
		s.shape.key(key).Words = words
	}
}

// tableOf is a table of values of a type, under names of any kind.
func tableOf(t Type) Type {
	return Type{Kind: "table", Section: &Shape{Any: &Key{Types: []Type{t}}}}
}

// text is the type of a text that a check accepts. One that wants "table.column" refuses a name alone.
func text(check func(string) string) Type {
	t := Type{Kind: "text"}
	if check("a") != "" && check("a.b") == "" {
		t.Pattern = "[.]"
		if check("space:a") == "" {
			t.Pattern = "^space:|[.]"
		}
	}
	return t
}
