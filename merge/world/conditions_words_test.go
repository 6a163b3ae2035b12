package world

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

// A condition is written in a form that means the same in every database that has
// the columns, or it is said why not.
func TestConditionWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d        sqldb.Dialect
		is, want string
		columns  []string
		unclear  string
	}{
		{d: sqldb.SQLite, is: "k.A>0 AND [b]<>\"text\" -- not )\n", want: "\"a\">0 and \"b\"<>'text'", columns: []string{"a", "b"}},
		{d: sqldb.SQLite, is: "length(b) /* ) */ <= 1e3 or b is x'00'", want: "length(\"b\") <= 1e3 or \"b\" is x'00'", columns: []string{"b"}},
		{d: sqldb.SQLite, is: "b < date('now')", want: "\"b\" < date('now')", columns: []string{"b"}, unclear: "'now' may depend on the time of the query"},
		{d: sqldb.SQLite, is: "mine(b)", want: "mine(\"b\")", columns: []string{"b"}, unclear: "the result of mine may depend on the database, the session or the time"},
		{d: sqldb.SQLite, is: "`other` > 1", want: "`other` > 1", unclear: "it names `other`, which is not a column of the table"},
		{d: sqldb.MySQL, is: `(` + "`a`" + ` > 0) and (` + "`b`" + ` <> _utf8mb4'it\'s (')`, want: "(`a` > 0) and (`b` <> _utf8mb4'it\\'s (')", columns: []string{"a", "b"}},
		{d: sqldb.MySQL, is: "`b` collate utf8mb4_bin = 'x'", want: "`b` collate utf8mb4_bin = 'x'", columns: []string{"b"}},
		{d: sqldb.MySQL, is: "`a` < @limit", want: "`a` < @limit", columns: []string{"a"}, unclear: "it depends on a variable"},
		{d: sqldb.MySQL, is: "`a` < curdate()", want: "`a` < curdate()", columns: []string{"a"}, unclear: "the result of curdate may depend on the database, the session or the time"},
	} {
		b := newBuilder()
		b.table("k")
		for _, name := range []string{"a", "b"} {
			b.column("k", column{Column: catalog.Column{Name: name}})
		}
		k, split := b.tables["k"], sqltext.SQLite
		if tt.d == sqldb.MySQL {
			split = sqltext.MySQL
		}
		k.checks(tt.d, split("CREATE TABLE k (a INT, CONSTRAINT one CHECK ("+tt.is+"), b TEXT DEFAULT ('CHECK (1)'))"), func([]sqltext.Token) bool { return false })
		if len(k.Conditions) != 1 {
			t.Errorf("%s: %d constraints", tt.is, len(k.Conditions))
			continue
		}
		got := k.Conditions[0]
		want := catalog.Condition{Kind: catalog.ConditionCheck, Name: "one", Text: tt.want, Columns: tt.columns, Unclear: tt.unclear}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.is, diff)
		}
	}
}

// Who may write to a server that is read_only is known by the rights on all
// databases.
func TestWritesAnyway(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION": true,
		"GRANT SELECT, READ_ONLY ADMIN ON *.* TO `a`@`%`":                     true,
		"GRANT AUDIT_ADMIN,CONNECTION_ADMIN,ROLE_ADMIN ON *.* TO `a`@`%`":     true,
		"GRANT SELECT, INSERT ON *.* TO `a`@`%`":                              false,
		"GRANT ALL PRIVILEGES ON `game`.* TO `a`@`%`":                         false,
	} {
		if writesAnyway(line) != want {
			t.Errorf("%s: %t", line, !want)
		}
	}
}
