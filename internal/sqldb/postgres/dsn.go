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
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
func (engine) Open(rest string, access sqldb.Access) (o sqldb.Opened, err error) {
	readOnly := access == sqldb.ReadOnly
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
	if err := fights(query, readOnly); err != nil {
		return o, err
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
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, 30*time.Second)
	o.Plain = cfg.TLSConfig == nil
	var at home
	made := stdlib.GetConnector(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout) // each host had as long to take the connection
		defer cancel()
		return at.settle(ctx, conn, readOnly, pooled != "")
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
		switch {
		case err == nil:
			return conn, nil
		case sqldb.IsContext(err) && ctx.Err() == nil: // what has ended is no context of the caller
			return nil, &connectError{oneLine(err, secret), sqldb.ErrUnavailable}
		}
		return nil, &connectError{oneLine(err, secret), err}
	}, made.Driver()}
	return o, nil
}

// connectError is an error of the driver, which has several lines, and parts of the DSN. Nothing was asked of the server.
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
			text = hide(text, part)
		}
	}
	return text
}

// hide puts *** in the place of a part of a text, except inside words: a name of one letter is in many.
func hide(text, part string) string {
	var b strings.Builder
	for last, rest := rune(0), text; ; {
		before, after, found := strings.Cut(rest, part)
		if !found {
			b.WriteString(rest)
			return b.String()
		}
		if before != "" {
			last, _ = utf8.DecodeLastRuneInString(before)
		}
		first, _ := utf8.DecodeRuneInString(part)
		end, _ := utf8.DecodeLastRuneInString(part)
		next, _ := utf8.DecodeRuneInString(after)
		b.WriteString(before)
		if inWord(last) && inWord(first) || inWord(end) && inWord(next) {
			b.WriteString(part)
		} else {
			b.WriteString("***")
		}
		last, rest = end, after
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// connector is that of the driver, which has the password in it: %#v of a pool does not show it.
type connector struct {
	connect func(context.Context) (driver.Conn, error)
	driver  driver.Driver
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) { return c.connect(ctx) }
func (c *connector) Driver() driver.Driver                            { return c.driver }
