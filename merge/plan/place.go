package plan

// Place says of which kind a reason is that blocks a plan though a check with the same rules and
// flags passes. All other reasons are those of the check, with its code.
type Place string

// The kinds of such reasons; [Places] says what they are.
const (
	PlaceRights  Place = "rights"
	PlaceEngine  Place = "engine"
	PlaceServers Place = "servers"
	PlaceRunning Place = "running"
	PlaceInto    Place = "new database"
	PlaceValues  Place = "new values"
)

// Places lists the kinds with what each is about, for the documents.
func Places() []struct {
	Place Place
	About string
} {
	return []struct {
		Place Place
		About string
	}{
		{PlaceRights, "the account may be unable to see something that could prevent the merge: triggers, tables, objects of the first world"},
		{PlaceEngine, "an engine has no transactions, or a value cannot be copied unchanged (JSON with dates, an ENUM's 0, a generated column with a value that a strict server would not compute)"},
		{PlaceServers, "a database server accepts no writes, another merge is in progress, an earlier merge already brought the same rows, or the fleet registry knows that a world continues elsewhere"},
		{PlaceRunning, "a game server runs, an event is enabled, or another process writes to a world; this does not block a rehearsal (apply -try)"},
		{PlaceInto, "the new database is not new, or cannot be created like the first world"},
		{PlaceValues, "a value that the merge changes was tested and does not fit: a new name, a raised counter, a cleared reference, a combined row, a generated column"},
	}
}
