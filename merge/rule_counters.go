package merge

// checkCounter looks at a key that the databases count up by themselves. Each
// starts at 1, so that the same keys come up everywhere unless the ranges were
// set apart. It needs the ranges of the keys. gaps are the sources that were
// not read.
func (c *checker) checkCounter(table string, gaps []Gap) {
}
