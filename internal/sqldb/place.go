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

// String is for people. A path that may have a secret in it is not shown.
func (p Place) String() string {
	if p.Path != "" {
		return strings.TrimPrefix(Redact(string(SQLite)+":"+p.Path), string(SQLite)+":")
	}
	return fmt.Sprintf("%s on the server %s", p.Database, p.Address)
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
	if p.Database != other.Database && !(strings.EqualFold(p.Database, other.Database) && (p.Folds || other.Folds)) {
		return false, "", nil
	}
	named := p.Database == other.Database || p.Folds && other.Folds
	if p.Cluster != "" && p.Cluster == other.Cluster {
		return named, "", nil
	}
	switch {
	case p.Server != "" && p.Server == other.Server:
		unclear = "two servers with the UUID " + p.Server + ", one of which may be a copy; or one server"
	case p.Address == other.Address:
		unclear = "two servers with one host name, port, data directory and number, or one server: " + p.Address
	default:
		return false, "", nil
	}
	if locked == nil {
		return false, unclear, nil
	}
	if seen, err := locked(); err != nil || seen {
		return seen && named, "", err
	}
	return false, unclear, nil
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
			return false, "a file on " + remote + " may be the other one, and locks may not work there"
		}
	}
	return false, ""
}

// Located is a pool that was asked where its database is.
type Located struct {
	*DB
	Place Place
}

// Same reports whether two pools lead to one database; if not, unclear says why it is not known. A name or a DSN
// proves nothing: both are asked.
func Same(ctx context.Context, a, b *DB) (same bool, unclear string, err error) {
	if a.pool.DB == b.pool.DB {
		return true, "", nil
	}
	one, errA := a.Locate(ctx)
	other, errB := b.Locate(ctx)
	if err := errors.Join(errA, errB); err != nil {
		return false, "", err
	}
	return one.Same(ctx, other)
}

// Same is [Same] of two that were asked.
func (l *Located) Same(ctx context.Context, other *Located) (same bool, unclear string, err error) {
	if l.dialect != other.dialect {
		return false, "", nil
	}
	return l.Place.Same(other.Place, func() (bool, error) { return locked(ctx, l.DB, other.DB) })
}

// PlaceOfFile says where the file of a database is, or would be.
func (d Dialect) PlaceOfFile(path string) (Place, error) {
	return d.of().(interface {
		PlaceOf(path string) (Place, error)
	}).PlaceOf(path)
}

// Locate asks the database where it is.
func (db *DB) Locate(ctx context.Context) (*Located, error) {
	l := &Located{DB: db}
	var err error
	if db.dialect.Words().File {
		l.Place, err = db.dialect.PlaceOfFile(db.Path)
		return l, err
	}
	err = db.Guard(ctx, func(conn *sqlx.Conn) error {
		l.Place, err = db.sessions.Place(ctx, conn)
		return err
	})
	return l, db.Fault("look up where the database is", err)
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
	if err = Translate(err); Says(err, Refused) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("checking whether two connections lead to the same server: %w", err)
	}
	return seen, err
}
