package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"mergesafe/internal/sqldb"
)

// plainDSN matches a DSN in which nothing but what stands before the @ can be a password.
var plainDSN = regexp.MustCompile(`^//(?:([^:/?#@]*)(:[^/?#@]*)?@)?(` + sqldb.PlainHost + `(?:,` + sqldb.PlainHost + `)*)/([^/?#@:;=\s]*)(?:\?[^@]*)?$`)

// Shown implements [sqldb.Engine]. A user without a colon behind it may be the password.
func (engine) Shown(rest string) (string, bool) {
	m := plainDSN.FindStringSubmatch(rest)
	if m == nil || !sqldb.IsPlain(m[4]) {
		return "", false
	}
	account := ""
	switch {
	case m[2] != "" && sqldb.IsPlain(m[1]) && !strings.ContainsAny(m[1], ` /\`):
		account = m[1] + ":***@"
	case strings.Contains(rest, "@"):
		account = "***@"
	}
	return "//" + account + m[3] + "/" + m[4], true
}

const wantDSN = "want postgres://user:password@host:port/database?param=value, with user and password URL-escaped"

// pooler is the parameter of a DSN that says which mode a pooler has.
const pooler = "pooler"

// Open implements [sqldb.Engine].
func (engine) Open(rest string, readOnly bool) (o sqldb.Opened, err error) {
	u, err := url.Parse("postgres:" + rest)
	if err != nil {
		return o, errors.New("not a URL: " + wantDSN) // the error would quote it
	}
	query := u.Query()
	pooled := query.Get(pooler)
	if pooled != "" && pooled != "session" {
		return o, errors.New("pooler in the DSN: want pooler=session, or the address of the server itself")
	}
	query.Del(pooler)
	for name := range query {
		if found := sqldb.NamedSecret.FindString(name); found != "" && !strings.HasPrefix(name, "ssl") && name != "passfile" {
			return o, fmt.Errorf("the DSN has a parameter with %q in its name: user and password belong before the address", found)
		}
	}
	for _, s := range settings {
		if value := query.Get(s.name); value != "" && !s.good(value) && !(readOnly && s.name == "default_transaction_read_only") {
			return o, fmt.Errorf("the DSN sets %s, and this program needs %s: take it out of the DSN", s.name, s.set)
		}
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // pgx takes a plus as it is
	cfg, err := pgx.ParseConfig(u.String())
	switch {
	case err != nil:
		return o, errors.New("not a DSN of pgx: " + wantDSN) // the error may quote a part of it
	case cfg.Database == "":
		return o, errors.New("no database named: " + wantDSN)
	case strings.Contains(rest, ",") && !readOnly && query.Get("target_session_attrs") == "":
		cfg.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, 10*time.Second)
	o.Plain = cfg.TLSConfig == nil
	var home home
	made := stdlib.GetConnector(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		return home.settle(ctx, conn, readOnly, pooled != "")
	}))
	var secret []string
	if _, shown := (engine{}).Shown(rest); !shown {
		secret = append(secret, cfg.Database, cfg.Host)
	}
	if _, password := u.User.Password(); !password && (u.User != nil || query.Has("user")) || len(secret) > 0 {
		secret = append(secret, cfg.User) // which may be the password
	}
	o.Connector = &connector{func(ctx context.Context) (driver.Conn, error) {
		conn, err := made.Connect(ctx)
		if err != nil {
			return nil, &connectError{oneLine(err, secret), err}
		}
		return conn, nil
	}, made.Driver()}
	return o, nil
}

// connectError is an error of the driver, which has several lines, and parts of the DSN.
type connectError struct {
	text string
	err  error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.err }

// oneLine makes one line of an error, each part once, without what may be secret.
func oneLine(err error, secret []string) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	text := strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": ")
	for _, part := range secret {
		if part != "" {
			text = strings.ReplaceAll(text, part, "***")
		}
	}
	return text
}

// connector is that of the driver, which has the password in it: %#v of a pool does not show it.
type connector struct {
	connect func(context.Context) (driver.Conn, error)
	driver  driver.Driver
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) { return c.connect(ctx) }
func (c *connector) Driver() driver.Driver                            { return c.driver }

// settle gives a new connection the settings, and makes sure that it has them.
func (h *home) settle(ctx context.Context, conn *pgx.Conn, readOnly, pooled bool) error {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
	if !pooled {
		var pid uint32
		if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		if pid != conn.PgConn().PID() {
			return errors.New("a pooler is between this program and the server, and settings of a session get lost in it: " +
				"use the address of the server itself; or, if its pool_mode is session, add pooler=session to the DSN")
		}
	}
	for attempt := 0; ; attempt++ {
		rows, _ := conn.Query(ctx, readSettings)
		pairs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Value string }])
		if err != nil {
			return err
		}
		has := make(map[string]string)
		for _, pair := range pairs {
			has[pair.Name] = pair.Value
		}
		set, was, err := h.differing(has, true)
		if err != nil {
			return err
		}
		set = slices.DeleteFunc(set, func(s string) bool {
			return readOnly && strings.HasPrefix(s, "SET SESSION default_transaction_read_only")
		})
		switch {
		case len(set) == 0 && readOnly:
			_, err := conn.Exec(ctx, "SET SESSION default_transaction_read_only = on")
			return err
		case len(set) == 0:
			return nil
		case attempt > 0:
			return fmt.Errorf("the session does not keep its settings: it has %s, want %s; is there a proxy that changes them?",
				strings.Join(was, ", "), strings.Join(set, ", "))
		}
		if _, err := conn.Exec(ctx, strings.Join(set, "; ")); err != nil {
			return sqldb.CannotSet(was, set, err)
		}
	}
}
