// Package gameworlds fills databases with the rows of made-up game worlds: for tests, which know the true meaning of
// each column, for measurements, and to try the tools on.
package gameworlds

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mergesafe/internal/sqldb"
)

// EnvSchemas is the environment variable that names the folder of the public schemas, NAME.sql, which
// are not in this repository.
const EnvSchemas = "MERGESAFE_SCHEMAS"

// Schema is a game's tables and what their columns are.
type Schema struct {
	Refs       *Refs
	Engine     string // if it is not empty, all tables have this engine instead of their own, such as "InnoDB"
	statements []string
}

// Load reads the statements that make a game's tables, as mysqldump or a person writes them, and the
// list of the meanings of their columns.
func Load(sqlPath, refsPath string) (*Schema, error) {
	statements, err := os.ReadFile(sqlPath)
	if err != nil {
		return nil, err
	}
	return load(os.DirFS(filepath.Dir(refsPath)), string(statements), filepath.Base(refsPath))
}

func load(folder fs.FS, statements, refs string) (*Schema, error) {
	list, err := folder.Open(refs)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	s := &Schema{statements: split(statements)}
	if s.Refs, err = ReadRefs(list); err != nil {
		return nil, fmt.Errorf("%s: %w", refs, err)
	}
	return s, nil
}

var (
	engines  = regexp.MustCompile(`(?i)\bENGINE\s*=\s*\w+`)
	triggers = regexp.MustCompile(`(?i)^CREATE\s+TRIGGER`)
	unwanted = regexp.MustCompile(`(?i)^(LOCK|UNLOCK)\s+TABLES`)
)

// create makes the tables, or the triggers: these come last, or they would write rows of their own
// while a world is filled.
func (s *Schema) create(ctx context.Context, conn *sql.Conn, dialect sqldb.Dialect, withTriggers bool) error {
	for _, statement := range s.statements {
		if triggers.MatchString(statement) != withTriggers || unwanted.MatchString(statement) {
			continue
		}
		if s.Engine != "" {
			statement = engines.ReplaceAllString(statement, "ENGINE="+s.Engine)
		}
		if dialect == sqldb.SQLite {
			statement = strings.ReplaceAll(statement, "INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT")
		}
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60q: %w", statement, err)
		}
	}
	return nil
}

var (
	comments   = regexp.MustCompile(`(?m)(^|\s)(--\s|#).*$|/\*(?s:.*?)\*/`)
	delimiters = regexp.MustCompile(`(?m)^DELIMITER (\S+)$`)
)

// split cuts a file into statements, without comments, at each delimiter that ends a line. It knows DELIMITER, which is the client's.
func split(text string) (statements []string) {
	text = comments.ReplaceAllString(text, "$1")
	delimiter, from := ";", 0
	for _, at := range append(delimiters.FindAllStringSubmatchIndex(text, -1), []int{len(text), len(text), 0, 0}) {
		end := regexp.MustCompile(regexp.QuoteMeta(delimiter) + `\s*(?:\n|$)`)
		for _, statement := range end.Split(text[from:at[0]], -1) {
			if statement = strings.TrimSpace(statement); statement != "" {
				statements = append(statements, statement)
			}
		}
		delimiter, from = text[at[2]:at[3]], at[1]
	}
	return statements
}
