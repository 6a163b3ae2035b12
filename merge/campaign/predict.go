package campaign

// predict says how long each merge takes, by its rows, by what was measured in this campaign so
// far, and by its rehearsal.
func predict(merges []MergeStatus, known map[string]*record) {}
