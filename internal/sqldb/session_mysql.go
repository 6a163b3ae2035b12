package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// setting is a variable of a MySQL session that the code relies on.
type setting struct {
	name  string   // as the server tells it
	also  []string // other names of it, in other servers
	value string   // as it is set, quoted
	shown []string // as the server may tell it
	some  bool     // some servers only know it
}

func (s setting) names() []string { return append([]string{s.name}, s.also...) }

func (s setting) equals(value string) bool {
	if s.name == "sql_mode" { // servers tell the modes in an order of their own
		have, want := strings.Split(value, ","), strings.Split(strictMode, ",")
		slices.Sort(have)
		slices.Sort(want)
		return slices.Equal(have, want)
	}
	return slices.ContainsFunc(s.shown, func(want string) bool { return strings.EqualFold(want, value) })
}

const (
	isolation  = "transaction_isolation"
	readOnlyTx = "transaction_read_only"
)

// sessionSettings are what every session of a pool of ours has, whatever the
// server, the account or the DSN says.
var sessionSettings = []setting{
	{name: "autocommit", value: "1", shown: []string{"ON", "1"}},
	{name: "completion_type", value: "0", shown: []string{"NO_CHAIN", "0"}},
	{name: "foreign_key_checks", value: "1", shown: []string{"ON", "1"}},
	{name: "unique_checks", value: "1", shown: []string{"ON", "1"}},
	{name: "sql_safe_updates", value: "0", shown: []string{"OFF", "0"}},
	{name: "sql_select_limit", value: "18446744073709551615", shown: []string{"18446744073709551615"}},
	{name: "sql_big_selects", value: "1", shown: []string{"ON", "1"}},
	{name: "time_zone", value: "'+00:00'", shown: []string{"+00:00"}},
	// Refuse what does not fit, rather than store something else.
	{name: "sql_mode", value: "'" + strictMode + "'", shown: []string{strictMode}},
	{name: "character_set_client", value: "utf8mb4", shown: []string{"utf8mb4"}},
	{name: "character_set_connection", value: "utf8mb4", shown: []string{"utf8mb4"}},
	{name: "character_set_results", value: "utf8mb4", shown: []string{"utf8mb4"}},
	{name: isolation, also: []string{"tx_isolation"}, value: "'REPEATABLE-READ'", shown: []string{"REPEATABLE-READ"}},
	{name: readOnlyTx, also: []string{"tx_read_only"}, value: "0", shown: []string{"OFF", "0"}},
	{name: "max_statement_time", value: "0", shown: []string{"0", "0.000000"}, some: true}, // MariaDB
	{name: "max_execution_time", value: "0", shown: []string{"0"}, some: true},             // MySQL
}

const strictMode = "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// allRows comes first: the limits are for SHOW, too.
const allRows = "SET SESSION sql_select_limit = 18446744073709551615, sql_big_selects = 1"

// showSettings reads what a session has. Each server tells those that it knows.
var showSettings = func() string {
	var names []string
	for _, s := range sessionSettings {
		for _, name := range s.names() {
			names = append(names, "'"+name+"'")
		}
	}
	return "SHOW SESSION VARIABLES WHERE Variable_name IN (" + strings.Join(names, ", ") + ")"
}()

// tellsSettings returns an error if a server does not tell what a session has.
func tellsSettings(has map[string]string) error {
	for _, s := range sessionSettings {
		told := func(name string) bool { _, ok := has[name]; return ok }
		if !s.some && !slices.ContainsFunc(s.names(), told) {
			return fmt.Errorf("the server does not tell %s, a setting of a session that this program relies on; is there a proxy that hides it?", s.name)
		}
	}
	return nil
}

// differing returns those settings of a session that are otherwise, as they are
// to be set, and as they were.
func differing(has map[string]string) (set, was []string) {
	for _, s := range sessionSettings {
		for _, name := range s.names() {
			if value, known := has[name]; known && !s.equals(value) {
				set, was = append(set, name+" = "+s.value), append(was, name+" = "+literal(name, value))
			}
		}
	}
	return set, was
}

// literal is a value that a variable had, as it is set again.
func literal(name, value string) string {
	if value == "" && name == "character_set_results" {
		return "NULL" // results come as they are stored
	}
	return quoteText(value)
}

// quoteText makes a literal of what the server said of a variable. Numbers are
// not texts to it.
func quoteText(value string) string {
	if value != "" && strings.Trim(value, "0123456789.") == "" {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// settle gives a new connection the settings, and makes sure that it has them and
// is in its database: init_connect may set and select others.
func settle(ctx context.Context, c *watchedConn, database string) error {
	if _, err := c.ExecContext(ctx, allRows, nil); err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		has, err := readPairs(ctx, c, showSettings)
		if err != nil {
			return err
		}
		if err := tellsSettings(has); err != nil {
			return err
		}
		where, err := readPairs(ctx, c, "SELECT 'database', COALESCE(DATABASE(), '')")
		if err != nil {
			return err
		}
		selected := where["database"]
		set, was := differing(has)
		elsewhere := selected != database
		switch {
		case len(set) == 0 && (!elsewhere || attempt > 0 && strings.EqualFold(selected, database)): // as the server writes it
			return nil
		case attempt > 0 && elsewhere:
			return fmt.Errorf("the session does not stay in its database: it is in %q, want %q; is there a proxy that changes it?",
				selected, database)
		case attempt > 0:
			return fmt.Errorf("the session does not keep its settings: it has %s, want %s; is there a proxy that changes them?", strings.Join(was, ", "), strings.Join(set, ", "))
		}
		if elsewhere {
			if _, err := c.ExecContext(ctx, "USE "+MySQL.Quote(database), nil); err != nil {
				return fmt.Errorf("the session is in the database %q, want %q: %w", selected, database, err)
			}
		}
		if len(set) > 0 {
			if _, err := c.ExecContext(ctx, "SET SESSION "+strings.Join(set, ", "), nil); err != nil {
				return cannotSet(was, set, err)
			}
		}
	}
}

// cannotSet is the error of a session that did not take its settings.
func cannotSet(was, want []string, err error) error {
	return fmt.Errorf("the session has %s, and this program needs %s: %w", strings.Join(was, ", "), strings.Join(want, ", "), err)
}

// readPairs runs a query of names and values. The names come in small letters.
func readPairs(ctx context.Context, c driver.QueryerContext, query string) (map[string]string, error) {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	has := make(map[string]string)
	row := make([]driver.Value, 2)
	for {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return has, nil
			}
			return nil, err
		}
		has[strings.ToLower(text(row[0]))] = text(row[1])
	}
}

func text(v driver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

// fights returns an error if a parameter of a DSN sets one of the settings to
// something else. A pool that is read-only anyway may be told so.
func fights(dsn string, params map[string]string, readOnly bool) error {
	if _, query, ok := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?"); ok {
		values, _ := url.ParseQuery(query) // the driver has read it
		for _, key := range []string{"charset", "collation"} {
			for _, charset := range strings.Split(strings.Join(values[key], ","), ",") {
				if charset != "" && !strings.HasPrefix(strings.ToLower(charset), "utf8") {
					return fmt.Errorf("the DSN sets %s, and this program needs utf8mb4: take it out of the DSN", key)
				}
			}
		}
	}
	for key, value := range params {
		name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(key)), "@@")
		for _, scope := range []string{"session.", "local.", "session ", "local "} {
			name = strings.TrimSpace(strings.TrimPrefix(name, scope))
		}
		for _, s := range sessionSettings {
			if readOnly && s.name == readOnlyTx {
				continue
			}
			if slices.Contains(s.names(), name) && !s.equals(strings.Trim(value, "'\"")) {
				return fmt.Errorf("the DSN sets %s, and this program needs %s: take it out of the DSN", name, s.value)
			}
		}
	}
	return nil
}
