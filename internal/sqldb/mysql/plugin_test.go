package mysql

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Of an account whose plugin the driver does not know, it is said which ones it may have.
func TestUnknownPlugin(t *testing.T) {
	err := engine{}.Explain(mysql.ErrUnknownPlugin, true)
	if !errors.Is(err, mysql.ErrUnknownPlugin) || !strings.Contains(err.Error(), "caching_sha2_password on MySQL, ed25519") {
		t.Error(err)
	}
}
