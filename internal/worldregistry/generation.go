package worldregistry

// A world that a merge takes into a new database goes on there, and never again in the old one. Its
// *generation* tells a copy of the old database from the new one: it rises by one when the new database
// is made, and again when an undo takes the world back. A fleet registry that has seen a later
// generation refuses a world of an earlier one: see package fleet.
//
// The generation is kept in the high bits of a row's epoch.
const generationBit = 40

// Generation returns the generation of a world from the epoch of its row: 0 for one that no merge took
// into a new database.
func Generation(epoch int64) int64 { return epoch >> generationBit }

// Changes returns how often the row has changed in its generation.
func Changes(epoch int64) int64 { return epoch & (1<<generationBit - 1) }

// NextGeneration returns the first epoch of the generation after that of an epoch.
func NextGeneration(epoch int64) int64 { return (Generation(epoch) + 1) << generationBit }

// Generation returns the generation of the server's world in this database.
func (s *Server) Generation() int64 { return Generation(s.Epoch) }
