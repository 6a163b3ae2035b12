package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Place is what the far end of a connection says of where it is. That is evidence: a copy of a server says what
// the server says, and a server may say something else after a failover. The connections of one pool may lead to
// several members of a cluster.
type Place struct {
	Database string `json:"database,omitempty"` // on a server
	Folds    bool   `json:"folds,omitempty"`    // names of databases that differ in case are one there
	Cluster  string `json:"cluster,omitempty"`  // the UUID that all members have; "" if it stands alone
	Server   string `json:"server,omitempty"`   // the server's own UUID; MariaDB has none
	Address  string `json:"address,omitempty"`  // its host, port, data directory and number

	Path   string      `json:"path,omitempty"` // of a file, without links
	File   os.FileInfo `json:"-"`              // what is there; nil: nothing
	Remote string      `json:"-"`              // the file system, if the file may be on another machine
}

// Same reports whether two places are one database, as far as they tell; if not, unclear says why it is not known.
//
// locked tells whether a lock that is held by a connection to the one is seen by a connection to the other; nil if
// there are no such connections. Then two files are compared by their paths alone.
func (p Place) Same(other Place, locked func() (bool, error)) (same bool, unclear string, err error) {
	if p.Path != "" || other.Path != "" {
		same, unclear = p.sameFile(other, locked != nil)
		return same, unclear, nil
	}
	if !strings.EqualFold(p.Database, other.Database) {
		return false, "", nil
	}
	named := p.Database == other.Database || p.Folds && other.Folds
	if p.Cluster != "" && p.Cluster == other.Cluster {
		return named, "", nil
	}
	if locked != nil {
		if seen, err := locked(); err != nil || seen {
			return seen && named, "", err
		}
	}
	switch {
	case p.Server != "" && p.Server == other.Server:
		return false, "two servers with the UUID " + p.Server + ": one is a copy of the other, or both are one", nil
	case p.Address == other.Address:
		return false, "two servers with one host name, port, data directory and number: " + p.Address, nil
	}
	return false, "", nil
}

func (p Place) sameFile(other Place, open bool) (same bool, unclear string) {
	switch {
	case !open || p.File == nil || other.File == nil:
		return p.Path == other.Path, ""
	case os.SameFile(p.File, other.File):
		return true, ""
	}
	for _, remote := range []string{p.Remote, other.Remote} {
		if remote != "" {
			return false, "a file on " + remote + " may be the other one, and locks may not hold there"
		}
	}
	return false, ""
}

// Same reports whether two pools lead to one database; if not, unclear says why it is not known. A name or a DSN
// proves nothing: both are asked.
func Same(ctx context.Context, a, b *DB) (same bool, unclear string, err error) {
	if a.pool.DB == b.pool.DB {
		return true, "", nil
	}
	if a.dialect != b.dialect {
		return false, "", nil
	}
	placeA, errA := a.Whereabouts(ctx)
	placeB, errB := b.Whereabouts(ctx)
	if err := errors.Join(errA, errB); err != nil {
		return false, "", err
	}
	return placeA.Same(placeB, func() (bool, error) { return locked(ctx, a, b) })
}

// PlaceOfFile says where the file of a database is, or would be.
func (d Dialect) PlaceOfFile(path string) (Place, error) {
	return d.of().(interface{ PlaceOf(path string) (Place, error) }).PlaceOf(path)
}

// Whereabouts asks the database where it is.
func (db *DB) Whereabouts(ctx context.Context) (p Place, err error) {
	if db.dialect.Words().File {
		return db.dialect.PlaceOfFile(db.Path)
	}
	err = db.Guard(ctx, func(conn *sqlx.Conn) error {
		p, err = db.sessions.Place(ctx, conn)
		return err
	})
	return p, db.Fault("look where the database is", err)
}

// locked reports whether b sees a lock that a has. A server that refuses such locks shows none.
func locked(ctx context.Context, a, b *DB) (seen bool, err error) {
	words := a.dialect.Words()
	if words.Lock == "" {
		return false, nil
	}
	name := "mergesafe " + rand.Text()
	err = a.Guard(ctx, func(conn *sqlx.Conn) error {
		var got sql.NullBool
		if err := conn.GetContext(ctx, &got, words.Lock, name); err != nil || !got.Bool {
			return err
		}
		err := b.Guard(ctx, func(conn *sqlx.Conn) error { return conn.GetContext(ctx, &seen, words.Locked, name) })
		if freed := conn.GetContext(ctx, &got, words.Unlock, name); err == nil {
			err = freed
		}
		return err
	})
	if err = Translate(err); IsRefused(err) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("looking whether two connections lead to one server: %w", err)
	}
	return seen, err
}
