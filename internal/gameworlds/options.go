package gameworlds

// Options says what a world is like. Typical gives them for a usual one.
type Options struct {
	Seed       uint64  // two worlds of one schema differ by it; the same options make the same rows
	Characters int     // rows of the table that has the size "characters"; a table of guilds has a 20th of them
	Items      int     // rows of the table that has the size "items"
	Deleted    Deleted // what share of the keys that were ever handed out is gone
	Block      int     // keys were deleted in runs of this length; 0: one by one
	Dangling   float64 // share of the values of references that name a row which is gone; a foreign key never does
	Offset     int64   // added to all keys and all references to them, as if the world had been shifted by hand
	Forget     float64 // share of the columns that name keys without a foreign key to which Offset was not added
}

// Deleted are shares from 0 to 1 of the keys of tables by their sizes.
type Deleted struct{ Characters, Items, Guilds, Others float64 }

// Typical returns the options of a usual world: 2,000 characters, 20,000 items, keys from 1 on, many
// of them deleted one by one, and two dangling references in a hundred.
func Typical(seed uint64) Options {
	return Options{
		Seed:       seed,
		Characters: 2000,
		Items:      20_000,
		Deleted:    Deleted{Characters: 0.13, Items: 0.5, Guilds: 0.25, Others: 0.3},
		Dangling:   0.02,
	}
}

// World is what Fill wrote.
type World struct {
	Rows      map[string]int // by table
	Forgotten []Column       // columns whose keys kept their old numbers; sorted
}
