package gameid

// Key is an integer key of one kind of entity that survives a server merge, for columns that
// are BIGINT: its server, and a counter below. Package store/numbers hands them out.
//
//	 63   62           43 42                              0
//	[ 0 ][ server : 20   ][ counter : 43                   ]   Wide
//
//	 63            53 52           33 32                  0
//	[ 0             ][ server : 20   ][ counter : 33       ]   Narrow
//
// To database/sql, JSON and most libraries it is an int64. A [Wide] key is too large for the
// numbers of JSON in a browser and of Lua; a [Narrow] one is not. An [ID] is the better key
// where a column can be chosen: it has a second defence (see [Node]), says when it was made,
// and is never equal to that of another kind.
type Key[E any] int64

// KeyForm is how many low bits of a [Key] count. All worlds of a game take the same form for
// a column: a wide key may be equal to a narrow one of another server.
type KeyForm int

const (
	Wide   KeyForm = 43 // 8.8 million million keys for each server, below 2^63
	Narrow KeyForm = 33 // 8.6 thousand million keys for each server, below 2^53
)

// KeyForms are all forms.
var KeyForms = [...]KeyForm{Wide, Narrow}

// IsValid reports whether f is [Wide] or [Narrow].
func (f KeyForm) IsValid() bool { return f == Wide || f == Narrow }

// Split returns the server and the counter of a key. It reports false if no server has a key
// of this form with that value. A value may have both forms: it does not say which.
func (f KeyForm) Split(key int64) (server ServerID, counter int64, ok bool) {
	server, counter = ServerID(key>>f&int64(MaxServer)), key&(1<<f-1)
	return server, counter, f.IsValid() && key>>f == int64(server) && server.IsValid()
}

// Join returns the key that [KeyForm.Split] takes apart.
func (f KeyForm) Join(server ServerID, counter int64) int64 { return int64(server)<<f | counter }
