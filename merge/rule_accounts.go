package merge

// planAccounts looks for accounts that have characters in several sources.
func (c *checker) planAccounts() {}
