// Package copies makes copies of worlds for a rehearsal, in a folder and on a server, and removes them.
package copies

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer"
)

// Copies are the databases that a rehearsal works on, in a folder and on a server. A list in
// the folder names them before they are made, so that those of a rehearsal that was killed are
// found by the next one.
type Copies struct {
	folder string
	server string // DSN without a database; empty: none
	list   *os.File
}

// listFile is the file that makes a folder one of a rehearsal.
const listFile = "rehearsal"

// lineMade and lineBegun begin the lines of the list: a database that was made, and one that
// was about to be.
const (
	lineMade  = "made "
	lineBegun = "making "
)

// Open makes the folder, or takes that of an earlier rehearsal, whose copies it removes.
func Open(ctx context.Context, folder, server string) (*Copies, error) {
	c := &Copies{folder: folder, server: server}
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Mkdir(folder, 0o700) // the copies hold what the worlds hold
	case err != nil || len(entries) == 0:
	default:
		if _, err := os.Stat(filepath.Join(folder, listFile)); err != nil {
			return nil, fmt.Errorf("the folder %q is not empty, and no rehearsal made it: name another one", folder)
		}
		err = c.remove(ctx)
		if err == nil {
			err = os.Mkdir(folder, 0o700)
		}
	}
	if err != nil {
		return nil, err
	}
	c.list, err = os.OpenFile(filepath.Join(folder, listFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return c, err
}

// note adds a line to the list, which is on the disk then.
func (c *Copies) note(line string) error {
	_, err := c.list.WriteString(line + "\n")
	return errors.Join(err, c.list.Sync())
}

// databaseName is how the copy of a world is called on a server.
func databaseName(number int, world string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(world))
	return fmt.Sprintf("rehearsal_%d_%.40s", number, name)
}

// Copy copies a world. number is its place among all.
func (c *Copies) Copy(ctx context.Context, number int, from transfer.Database) (
	to transfer.Database, left []string, err error,
) {
	to.Name = from.Name
	dialect, _, err := sqldb.SplitDSN(from.DSN)
	if err != nil {
		return to, nil, err
	}
	if dialect == sqldb.SQLite {
		to.DSN = string(sqldb.SQLite) + ":" + filepath.Join(c.folder, databaseName(number, from.Name)+".db")
	} else if to.DSN, err = c.create(ctx, databaseName(number, from.Name)); err != nil {
		return to, nil, err
	}
	left, err = transfer.Clone(ctx, from, to)
	return to, left, err
}

// Reserve finds the address of a database that a merge makes beside a copy. The list names it.
func (c *Copies) Reserve(
	ctx context.Context, number int, name string, beside transfer.Database,
) (address string, err error) {
	name = databaseName(number, name)
	if dialect, _, err := sqldb.SplitDSN(beside.DSN); err != nil || dialect == sqldb.SQLite {
		return string(sqldb.SQLite) + ":" + filepath.Join(c.folder, name+".db"), err
	}
	dsn, err := c.create(ctx, name)
	if err != nil {
		return "", err
	}
	_, address = sqldb.SplitAccount(dsn)
	at, _ := sqldb.ParseServer(dsn)
	return address, c.drop(ctx, at.Address, name, false)
}

// create makes an empty database on the server.
func (c *Copies) create(ctx context.Context, name string) (dsn string, err error) {
	if c.server == "" {
		return "", errors.New("it is on a server: name one for its copy, which may be the same, by its DSN without a database")
	}
	if dsn, err = sqldb.WithDatabase(c.server, name); err != nil {
		return "", err
	}
	at, _ := sqldb.ParseServer(dsn)
	err = c.onServer(ctx, func(db *sqldb.DB) error {
		if err := c.note(lineBegun + at.Address + " " + name); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, "CREATE DATABASE "+db.Dialect().Quote(name)+" CHARACTER SET utf8mb4"); err != nil {
			return err
		}
		return c.note(lineMade + at.Address + " " + name)
	})
	return dsn, err
}

func (c *Copies) onServer(ctx context.Context, do func(db *sqldb.DB) error) error {
	dsn, err := sqldb.WithDatabase(c.server, "information_schema") // which every account may open
	if err != nil {
		return err
	}
	db, err := sqldb.Dial(ctx, dsn, false)
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
}

// Close ends the rehearsal, and removes the copies unless they are to be kept.
func (c *Copies) Close(ctx context.Context, keep bool) error {
	c.list.Close()
	if keep {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return c.remove(ctx)
}

// remove removes what the list names, and then the folder. What is not removed is named in
// the error, and the list stays.
func (c *Copies) remove(ctx context.Context) error {
	made, begun, err := c.listed()
	if err != nil {
		return err
	}
	var left []string
	for _, name := range slices.Concat(made, begun) {
		address, database, _ := strings.Cut(name, " ")
		if err := c.drop(ctx, address, database, slices.Contains(begun, name)); err != nil {
			left = append(left, fmt.Sprintf("database %s on %s: %v", printable.Text(database), printable.Text(address), err))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("copies of a rehearsal are left; remove them by hand, and then the folder %q: %s", c.folder, strings.Join(left, "; "))
	}
	return os.RemoveAll(c.folder)
}

// listed are the databases that were made, and those of which that is not known, each with
// the address of its server.
func (c *Copies) listed() (made, begun []string, err error) {
	f, err := os.Open(filepath.Join(c.folder, listFile))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), lineMade); ok {
			made = append(made, name)
		}
		if name, ok := strings.CutPrefix(lines.Text(), lineBegun); ok {
			begun = append(begun, name)
		}
	}
	begun = slices.DeleteFunc(begun, func(name string) bool { return slices.Contains(made, name) })
	return made, begun, lines.Err()
}

// drop drops a database that a rehearsal made. If it is only known that one was about to make
// it, it is dropped if it has no tables.
func (c *Copies) drop(ctx context.Context, address, database string, unsure bool) error {
	if !strings.HasPrefix(database, "rehearsal_") {
		return errors.New("its name is none of a rehearsal")
	}
	dsn, err := sqldb.WithDatabase(c.server, database)
	if at, ok := sqldb.ParseServer(dsn); err != nil || !ok || at.Address != address {
		return errors.New("no server of this address is given now")
	}
	return c.onServer(ctx, func(db *sqldb.DB) error {
		if unsure {
			var tables int
			if err := db.Get(ctx, &tables, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", database); err != nil {
				return err
			}
			if tables > 0 {
				return errors.New("it has tables, and it is not certain that a rehearsal made it")
			}
		}
		_, err := db.Exec(ctx, "DROP DATABASE IF EXISTS "+db.Dialect().Quote(database))
		return err
	})
}
