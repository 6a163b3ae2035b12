package inventory

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
)

// Column is a column of a table of all worlds.
type Column struct{ Table, Column string }

// ParseColumn reads "table.column".
func ParseColumn(text string) (Column, error) {
	table, column, ok := strings.Cut(text, ".")
	if !ok || table == "" || column == "" || strings.Contains(column, ".") {
		return Column{}, fmt.Errorf("%q: want table.column, such as \"characters.name\"", text)
	}
	return Column{table, column}, nil
}

func (c Column) String() string { return c.Table + "." + c.Column }

// Overlap tells how many values of a column several worlds have. NULL and empty texts are none.
type Overlap struct {
	Column string `json:"column"`
	Values int64  `json:"values"` // different ones, of all worlds
	Shared int64  `json:"shared"` // of these, those that two or more worlds have
	Extra  int64  `json:"extra"`  // worlds that have one of these, except for one world each: so many names are changed

	Problem string `json:"problem,omitempty"` // why it could not be counted; the numbers are 0 then
}

// mostValues bounds the memory of [Count]: so many values, of 8 bytes each, are kept at a time.
const mostValues = 2 << 20

// Count counts, for each of the columns, which values several of the worlds have. Values are
// compared as the first of the worlds compares them, by its collation, and kept as hashes of 64
// bits: that two are taken for one is a matter of one in thousands of runs of millions of values. It
// only reads. If there are very many values, it reads the worlds several times.
func Count(ctx context.Context, worlds []merge.Database, columns []Column) ([]Overlap, error) {
	return overlaps(ctx, worlds, columns, mostValues)
}

func overlaps(ctx context.Context, worlds []merge.Database, columns []Column, most int) ([]Overlap, error) {
	for parts := uint64(1); ; parts *= 2 {
		all, err := inParts(ctx, worlds, columns, most, parts)
		if !errors.Is(err, errTooMany) {
			return all, err
		}
	}
}

var errTooMany = errors.New("too many values")

// inParts reads the worlds once for each part of the hashes.
func inParts(ctx context.Context, worlds []merge.Database, columns []Column, most int, parts uint64) ([]Overlap, error) {
	seed := maphash.MakeSeed()
	all := make([]Overlap, len(columns))
	for i, c := range columns {
		all[i].Column = c.String()
	}
	collations := make([]string, len(columns)) // of the first world
	for part := range parts {
		sets := make([][]uint64, len(columns))
		for n, w := range worlds {
			err := openWorld(ctx, w, func(source *world.Source) error {
				schema, err := source.Catalog(ctx)
				if err != nil {
					return err
				}
				for i, column := range columns {
					if all[i].Problem != "" {
						continue
					}
					found := columnOf(schema, column)
					if found == nil {
						all[i].Problem = fmt.Sprintf("%s has no column %s", w.Name, column)
						continue
					}
					if n == 0 {
						collations[i] = found.Collation
					}
					order := []catalog.Order{{Column: column.Column, Collation: collations[i]}}
					if found.Collation == "" {
						order[0].Collation = ""
					}
					start := len(sets[i])
					for batch, err := range source.Scan(ctx, catalog.Scan{Table: column.Table, Order: order, Carry: []string{column.Column}, Unsorted: true, SkipNull: true}) {
						if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
							all[i].Problem = unsupported.Error()
							break
						}
						if err != nil {
							return err
						}
						for row := range batch.Len {
							if len(batch.Carry[0].At(row)) == 0 {
								continue
							}
							if h := maphash.Bytes(seed, batch.Order[0].At(row)); h%parts == part {
								sets[i] = append(sets[i], h)
							}
						}
						if length(sets) > most {
							if sets[i] = distinctFrom(sets[i], start); length(sets) > most/2 {
								return errTooMany
							}
						}
					}
					sets[i] = distinctFrom(sets[i], start)
				}
				return nil
			})
			if errors.Is(err, errTooMany) {
				return nil, err
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.Name, err)
			}
		}
		for i, set := range sets {
			all[i].add(set)
		}
	}
	for i := range all {
		if all[i].Problem != "" {
			all[i] = Overlap{Column: all[i].Column, Problem: all[i].Problem}
		}
	}
	return all, nil
}

// openWorld opens a world for reading.
func openWorld(ctx context.Context, w merge.Database, read func(*world.Source) error) error {
	source, err := world.Open(ctx, w.Name, w.DSN)
	if err != nil {
		return err
	}
	return errors.Join(read(source), source.Close())
}

func columnOf(schema *catalog.Catalog, c Column) *catalog.Column {
	for i := range schema.Tables {
		if t := &schema.Tables[i]; t.Name == c.Table {
			return t.Column(c.Column)
		}
	}
	return nil
}

func length(sets [][]uint64) (n int) {
	for _, set := range sets {
		n += len(set)
	}
	return n
}

// distinctFrom leaves each value once of those from a place on, which are the values of one world.
func distinctFrom(set []uint64, start int) []uint64 {
	own := set[start:]
	slices.Sort(own)
	return set[:start+len(slices.Compact(own))]
}

// add counts the values of all worlds, of which each world has each once.
func (o *Overlap) add(set []uint64) {
	slices.Sort(set)
	for i := 0; i < len(set); {
		n := 1
		for i+n < len(set) && set[i+n] == set[i] {
			n++
		}
		o.Values++
		if n > 1 {
			o.Shared++
			o.Extra += int64(n - 1)
		}
		i += n
	}
}
