package fleetworlds

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleetworlds/madeup"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// registryOf returns the statements that make the registry of a world, with the one server that
// it has. If it is running, a process of another machine holds the lease for years.
func registryOf(d sqldb.Dialect, s madeup.Shape, server gameid.ServerID, running bool) (
	statements []string, err error) {
	for statement := range strings.SplitSeq(worldregistry.SchemaText(d), ";\n") {
		if strings.TrimSpace(statement) != "" {
			statements = append(statements, statement)
		}
	}
	random := rand.New(rand.NewPCG(s.Seed[1], s.Seed[0]))
	seen := s.Now.Add(-time.Duration(1+random.IntN(72)) * time.Hour)
	holder, until := []byte{}, seen
	if running {
		seen, until = s.Now, s.Now.AddDate(10, 0, 0)
		holder, err = json.Marshal(gameid.Holder{Token: token(random), Host: "game-7.example", PID: 4711, Program: "gameserver", Since: s.Now.Add(-26 * time.Hour).UTC()})
		if err != nil {
			return nil, err
		}
	}
	mark, err := gameid.MillisOf(seen)
	if err != nil {
		return nil, err
	}
	return append(statements, fmt.Sprintf(
		"INSERT INTO gameid_servers (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, window_ms) VALUES (%d, '%s', '%s', 'own', %d, %d, '%s', %d, %d, %d, 10000)",
		server, s.Name, token(random), 2+random.IntN(5000), mark, holder, until.UnixMilli(), s.Now.AddDate(-2, 0, 0).UnixMilli(), seen.UnixMilli())), nil
}

// token is an identity: 32 hexadecimal digits.
func token(random *rand.Rand) string {
	return fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
}
