package moved

import "mergesafe/merge/declare"

// SeenCounter is a column that seems to be a counter of a space.
type SeenCounter struct {
	declare.ColumnName
	Space *declare.KeySpace
}
