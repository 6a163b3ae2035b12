package servertest

import (
	"fmt"
	"strings"
	"testing"
)

// Settings puts the names that MySQL has for settings of a session into a text that has MariaDB's, with limits of a
// statement in seconds, if the server is MySQL.
func Settings(onMariaDB bool, text string) string {
	if onMariaDB {
		return text
	}
	return strings.NewReplacer("tx_isolation", "transaction_isolation", "tx_read_only", "transaction_read_only",
		"max_statement_time = 1", "max_execution_time = 1000", "max_statement_time", "max_execution_time").Replace(text)
}

// Seq is a table of the whole numbers from first to last, in a column seq, as any server understands it.
func Seq(first, last int) string {
	const digits = "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4" +
		" UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	sum, from := fmt.Sprint(first), ""
	for power, i := 1, 0; power <= last-first || i == 0; power, i = power*10, i+1 {
		sum += fmt.Sprintf(" + d%d.n * %d", i, power)
		from += fmt.Sprintf(", %s AS d%d", digits, i)
	}
	return fmt.Sprintf("(SELECT %s AS seq FROM %s HAVING seq <= %d ORDER BY seq) AS s", sum, strings.TrimPrefix(from, ", "), last)
}

// PrivateMySQL is [Private] for a MySQL.
func PrivateMySQL(t testing.TB, args ...string) *Server {
	t.Helper()
	return private(t, Options{Name: MySQL, Args: args})
}
