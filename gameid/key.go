package gameid

// Key is an integer key of one kind of entity that survives a server merge, for columns that
// are BIGINT: the server in the upper bits, and a counter below. Package store/numbers hands keys out.
//
//	 63   62           43 42                              0
//	[ 0 ][ server : 20   ][ counter : 43                   ]   Wide
//
//	 63            53 52           33 32                  0
//	[ 0             ][ server : 20   ][ counter : 33       ]   Narrow
//
// To database/sql, JSON and most libraries it is an int64. A [Wide] key is too large for the
// numbers of JSON in a browser and of Lua; a [Narrow] one is not. If you can choose the type of the
// column, an [ID] is the better key: it has a second defence (see [Node]), says when it was made,
// and is never equal to an ID of another kind.
type Key[E any] int64

// KeyForm is how many low bits of a [Key] hold the counter. All worlds of a game use the same form for
// a column: a wide key may be equal to a narrow key of another server.
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
// of this form with that value. A value can be a key of both forms: it does not say which it is.
func (f KeyForm) Split(key int64) (server ServerID, counter int64, ok bool) {
	server, counter = ServerID(key>>f&int64(MaxServer)), key&(1<<f-1)
	return server, counter, f.IsValid() && key>>f == int64(server) && server.IsValid()
}

// Join returns the key of a server and a counter: the inverse of [KeyForm.Split].
func (f KeyForm) Join(server ServerID, counter int64) int64 { return int64(server)<<f | counter }
