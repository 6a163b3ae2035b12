package main

import (
	"fmt"
	"io"
	"time"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

// printList prints a list: as JSON, or in columns of that width below their heads, or that there is none.
func printList[E, T any](w io.Writer, width int, asJSON bool, all []E, none string,
	object func(E) T, heads []string, row func(E) []string) error {
	if asJSON {
		objects := make([]T, 0, len(all))
		for _, e := range all {
			objects = append(objects, object(e))
		}
		return cli.WriteJSON(w, objects)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	rows := [][]string{heads}
	for _, e := range all {
		rows = append(rows, row(e))
	}
	return columns.Write(w, rows, width)
}

// known is a time in JSON: null if it is zero.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// moment is a time in a list.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return printable.Time(t)
}
