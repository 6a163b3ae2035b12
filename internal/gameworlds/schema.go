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

// split cuts a file into statements, without comments. It knows DELIMITER, which is the client's.
func split(text string) (statements []string) {
	var statement strings.Builder
	delimiter := ";"
	end := func() {
		if s := strings.TrimSpace(statement.String()); s != "" {
			statements = append(statements, s)
		}
		statement.Reset()
	}
	for text != "" {
		n := 1
		switch blank := strings.TrimSpace(statement.String()) == ""; {
		case blank && strings.HasPrefix(text, "DELIMITER "):
			n = lineEnd(text)
			delimiter = strings.TrimSpace(text[len("DELIMITER "):n])
			text = text[n:]
			continue
		case strings.HasPrefix(text, delimiter):
			end()
			text = text[len(delimiter):]
			continue
		case strings.HasPrefix(text, "-- "), strings.HasPrefix(text, "--\n"), text[0] == '#':
			text = text[lineEnd(text):]
			continue
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
			continue
		case text[0] == '\'', text[0] == '"', text[0] == '`':
			n = quoted(text)
		}
		statement.WriteString(text[:n])
		text = text[n:]
	}
	end()
	return statements
}

func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// quoted returns the length of the quoted text that text begins with. Two quotes in a row are two quoted texts.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}
