package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

func TestHelp(t *testing.T) {
	if err := cli.CheckHelp(command(os.LookupEnv, os.Stdout, os.Stderr)); err != nil {
		t.Error(err)
	}
	for _, text := range []string{help, helpDatabases, helpJSON} {
		for line := range strings.Lines(text) {
			if n := len([]rune(line)); n > 81 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// The help on JSON has every field of a report, and no other.
func TestHelpJSON(t *testing.T) {
	report, matrix, found := strings.Cut(helpJSON, "With -matrix")
	if !found {
		t.Fatal("nothing on -matrix")
	}
	if diff := cmp.Diff(fields("", reflect.TypeFor[merge.Report]()), documented(report)); diff != "" {
		t.Errorf("report (-is +documented):\n%s", diff)
	}
	shallow := slices.DeleteFunc(fields("", reflect.TypeFor[merge.MatrixReport]()), func(path string) bool {
		return strings.HasPrefix(path, "sources[].") || strings.HasPrefix(path, "pairs[].results[].") // as above
	})
	if diff := cmp.Diff(shallow, documented(matrix)); diff != "" {
		t.Errorf("matrix (-is +documented):\n%s", diff)
	}
}

// fields lists the fields of the JSON form of a type, as paths.
func fields(path string, t reflect.Type) []string {
	var all []string
	switch {
	case t == reflect.TypeFor[time.Time]():
	case t.Kind() == reflect.Pointer:
		return fields(path, t.Elem())
	case t.Kind() == reflect.Slice:
		return fields(path+"[]", t.Elem())
	case t.Kind() == reflect.Struct:
		if path != "" {
			all = append(all, path)
			path += "."
		}
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			all = append(all, fields(path+name, t.Field(i).Type)...)
		}
		return all
	}
	return []string{path}
}

// documented lists the fields that a text documents, as paths.
func documented(text string) []string {
	var all, above []string
	for _, m := range regexp.MustCompile(`(?m)^((?:  ){1,5})\.?([a-z_]+(?:\[\])?)( |$)`).FindAllStringSubmatch(text, -1) {
		depth := len(m[1])/2 - 1
		above = append(above[:depth], m[2])
		all = append(all, strings.Join(above, "."))
	}
	return all
}
