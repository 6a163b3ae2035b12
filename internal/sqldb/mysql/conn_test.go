package mysql

import (
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A parameter that neither the driver nor the server knows is named. Any other variable that a server does not know is not
// taken for one.
func TestUnknownParameter(t *testing.T) {
	q := &quoting{"s1", true, true, []string{"foo"}}
	for name, want := range map[string]string{
		"foo": "Error 1193: foo is no parameter of a DSN, and no variable of this server",
		"bar": "Error 1193: refused because of a parameter of the DSN, perhaps: foo",
	} {
		err := q.hide(&mysql.MySQLError{Number: 1193, Message: "Unknown system variable '" + name + "'"})
		if err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}
