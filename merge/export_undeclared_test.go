package merge

// CheckLookingFirst is [Check] for which a table of more than twice as many rows is
// large, and so many of them are looked at first.
var CheckLookingFirst = check
