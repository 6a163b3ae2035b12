package mysql

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A parameter that neither the driver nor the server knows is named. Any other variable that a server does not know is not
// taken for one.
func TestUnknownParameter(t *testing.T) {
	q := &quoting{"s1", "", true, true, []string{"foo"}}
	for name, want := range map[string]string{
		"foo": "Error 1193: foo is neither a parameter of a DSN nor a variable of this server",
		"bar": "Error 1193: possibly refused because of a parameter of the DSN: foo",
	} {
		err := q.hide(&mysql.MySQLError{Number: 1193, Message: "Unknown system variable '" + name + "'"})
		if err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// Of an account whose plugin the driver does not know, it is said which ones it may have.
func TestUnknownPlugin(t *testing.T) {
	err := engine{}.Explain(mysql.ErrUnknownPlugin, true)
	if !errors.Is(err, mysql.ErrUnknownPlugin) || !strings.Contains(err.Error(), "caching_sha2_password on MySQL, ed25519") {
		t.Error(err)
	}
}

// A member of a group takes writes as long as it is in step with the majority.
func TestOutOfGroup(t *testing.T) {
	for members, want := range map[string]string{
		"ONLINE ONLINE ONLINE":           "",
		"ONLINE":                         "",
		"ONLINE ONLINE UNREACHABLE":      "",
		"ONLINE RECOVERING RECOVERING":   "",
		"ONLINE UNREACHABLE UNREACHABLE": "2 of 3 members are unreachable",
		"ONLINE UNREACHABLE":             "1 of 2 members are unreachable",
		"RECOVERING ONLINE ONLINE":       "RECOVERING",
		"ERROR":                          "ERROR",
		"OFFLINE":                        "OFFLINE",
		"":                               "not joined",
	} {
		states := make(map[string]string)
		for i, state := range strings.Fields(members) {
			states[[]string{"self", "b", "c"}[i]] = state
		}
		if got := outOfGroup(states); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", members, got, want)
		}
	}
}

// What is known of the open connections of a process does not grow with those that it has closed.
func TestClosedConnectionIsForgotten(t *testing.T) {
	c := &watchedConn{mysqlConn: silent{}, number: "server 1"}
	own.Store(c.number, nil)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, is := own.Load(c.number); is {
		t.Error("it is known after it was closed")
	}
}

type silent struct{ mysqlConn }

func (silent) Close() error { return nil }
