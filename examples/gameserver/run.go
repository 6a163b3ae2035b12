package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mergesafe/gameid"
	nodemetrics "mergesafe/gameid/metrics"
	"mergesafe/internal/config"
	"mergesafe/internal/masked"
	"mergesafe/store"
	"mergesafe/store/fleet"
	"mergesafe/store/numbers"
	"mergesafe/store/registry"
	"mergesafe/store/starter"
)

// The exit codes.
const (
	exitOK         = 0 // stopped as it was asked to
	exitFailed     = 1 // stopped because something failed, or could not stop cleanly
	exitNotStarted = 2 // did not start: wrong usage or configuration, the database, or the number is taken
)

const (
	startTimeout = 30 * time.Second
	drainTimeout = 15 * time.Second // longer than a request may take

	settingsEvery = 10 * time.Second // the registry reads them about every minute
)

const usage = `Usage: gameserver [flags]

A small game server that keeps a world of players, items and guilds. It reads
config.toml and runs until SIGINT or SIGTERM.

  -config FILE            the configuration (default "config.toml")
  -listen ADDRESS         listen here instead of where the file says
  -max-clock-skew TIME    start although this machine's clock and the database's
                          disagree by so much, such as "2h" (default 5m, at least 20s)
  -v                      log every request

For players. Every {id} is a public ID, such as 1-c3beb2965346a74a65fa, which
tells nothing without the key:
  POST /players             {"account": "acc-1", "name": "Aria"}
  GET  /players/{id}        the player with items and guild
  GET  /players?name=aria   the same by name
  GET  /players?number=...  the same by the number that every player has
  POST /players/{id}/items  {"items": [{"template": 7, "count": 1}, ...]}
  POST /guilds              {"name": "Owls", "leader_id": "..."}
  GET  /guilds/{id}         the guild with its members
  POST /guilds/{id}/members {"player_id": "..."}
Without a key, which is in config.toml or in the environment variable
PUBLIC_ID_KEY, they are refused.

For operators; what the metrics count is what public IDs hide, so keep them
from players:
  GET  /healthz             200 if node and database are well, else 503
  GET  /metrics             for Prometheus

Exit codes: 0 stopped as asked; 1 stopped because something failed, such as the
lease of the server number being lost; 2 did not start.

Examples:
  PUBLIC_ID_KEY=$(openssl rand -hex 16) gameserver
  gameserver -config s2.toml -listen 127.0.0.1:8082
`

// options are what the command line says.
type options struct {
	config  string
	listen  string
	maxSkew time.Duration
	verbose bool
}

// run is the program. It returns its exit code. The clock replaces that of the
// machine in tests; nil stands for the machine's.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer, clock gameid.Clock) int {
	mask := masked.Of(args, flagNames)
	opts, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "gameserver: %s\nFor help: gameserver -h\n", mask.Text(err.Error()))
		return exitNotStarted
	}
	level := slog.LevelInfo
	if opts.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	p, err := start(ctx, opts, env, log, clock)
	if err != nil {
		fmt.Fprintf(stderr, "gameserver: %s\n", mask.Text(err.Error()))
		return exitNotStarted
	}
	if err := p.serve(ctx); err != nil {
		log.Error("stopped", "err", err)
		return exitFailed
	}
	log.Info("stopped")
	return exitOK
}

// flagNames are the flags that parse knows.
var flagNames = []string{"config", "listen", "max-clock-skew", "v", "h", "help"}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("gameserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned, and usage is written by hand
	flags.StringVar(&o.config, "config", "config.toml", "")
	flags.StringVar(&o.listen, "listen", "", "")
	flags.DurationVar(&o.maxSkew, "max-clock-skew", 0, "")
	flags.BoolVar(&o.verbose, "v", false, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

// process is a game server from its start to its end, with all that it has to
// close.
type process struct {
	db       *store.DB
	node     *gameid.Node
	fleet    *fleet.Fleet  // nil unless the configuration names a fleet registry
	member   *fleet.Member // the same; it owns the node
	numbers  *numbers.Sequence
	listener net.Listener
	http     *http.Server
	log      *slog.Logger
	lossy    []registry.Lossy // as they were logged
}

// start opens everything. What it opened before something failed it closes.
func start(ctx context.Context, opts options, env func(string) (string, bool), log *slog.Logger, clock gameid.Clock) (_ *process, err error) {
	cfg, err := config.Load(opts.config)
	if err == nil {
		err = cfg.CheckServer()
	}
	if err != nil {
		return nil, err
	}
	dsn, err := cfg.Database.DSN(env)
	if err != nil {
		return nil, err
	}
	keys, err := cfg.PublicKeys(env)
	if err != nil {
		return nil, err
	}
	public, err := newPublicIDs(keys)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	p := &process{log: log}
	defer func() {
		if err != nil {
			p.close() // the first error is the one that counts
		}
	}()
	if err := makeDirectory(dsn.Reveal()); err != nil {
		return nil, err
	}
	if p.db, err = store.Open(ctx, dsn.Reveal()); err != nil {
		return nil, err
	}
	if err := createTables(ctx, p.db); err != nil {
		return nil, err
	}
	server := cfg.Server
	if err := p.openNode(ctx, cfg, env, store.NodeOptions{
		Options:             gameid.Options{MaxSkew: opts.maxSkew, Clock: clock},
		AcceptLossyDatabase: cfg.AcceptLossyDatabase,
	}); err != nil {
		return nil, err
	}
	number := p.node.Server()
	if server.Name != "" && server.Number != number { // one of a range
		server.Name = fmt.Sprintf("%s-%s", server.Name, number)
	}
	if err := p.db.Registry().SetName(ctx, number, server.Name); err != nil {
		return nil, err
	}
	if err := p.openNumbers(ctx, number); err != nil {
		return nil, err
	}
	// Only now: a second process with this configuration shall hear that the
	// number is taken, not that the address is.
	if p.listener, err = net.Listen("tcp", cmp.Or(opts.listen, server.Listen)); err != nil {
		return nil, err
	}
	now := time.Now
	if clock != nil {
		now = clock.Wall
	}
	handler := newServer(p.db, p.node, p.numbers, public, server.Name, now, log)
	if p.member != nil {
		figures := func() []nodemetrics.Metric { return fleetMetrics(p.member.Status()) }
		handler.metrics.registry.MustRegister(collector(figures))
	}
	p.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      2 * requestTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	if public == nil {
		log.Warn("no key for public IDs: players are refused", "config", opts.config, "want",
			"a [[public_id]] in it, or the environment variable "+config.PublicKeyEnv+"; a key is what \"openssl rand -hex 16\" prints")
	}
	log.Info("serving", "server", number, "name", server.Name, "database", p.db.String(), "address", p.listener.Addr().String())
	return p, nil
}

// makeDirectory makes the directory of an SQLite file, so that a first start
// needs no preparation. It makes one directory, not a whole path: that would
// rather be mistyped, and become a new and empty world.
func makeDirectory(dsn string) error {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok || store.Redact(dsn) != dsn { // what looks like another DSN is no new folder
		return nil
	}
	err := os.Mkdir(filepath.Dir(path), 0o755)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil // opening the database tells what is missing
	}
	if err != nil {
		return fmt.Errorf("make the directory of the database: %w", err)
	}
	return nil
}

// serve answers requests until ctx ends, then stops cleanly. It stops by
// itself, with an error, when the node has lost its lease: another process
// runs this world now, and two must not.
func (p *process) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- p.http.Serve(p.listener) }()
	settings := time.NewTicker(settingsEvery)
	defer settings.Stop()
	var cause error
	for running := true; running; {
		p.warnLossy()
		select {
		case <-settings.C:
			continue
		case <-ctx.Done():
			p.log.Info("stopping")
		case <-p.node.Done():
			cause = p.node.Err()
			p.log.Error("stopping: the node may not mint any more", "err", cause)
		case cause = <-failed:
			p.log.Error("stopping: no more connections can be accepted", "err", cause)
		}
		running = false
	}
	return errors.Join(cause, p.stop())
}

// stop lets the requests that are under way end, and closes everything.
func (p *process) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := p.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests that still ran after %s were cut off: %w", drainTimeout, err)
		p.http.Close()
	}
	return errors.Join(err, p.close())
}

// close closes what is open, in the order that lets the node give its lease
// back.
func (p *process) close() error {
	var errs []error
	if p.listener != nil {
		p.listener.Close() // closed by the HTTP server already, if there is one
	}
	if p.numbers != nil {
		if err := p.numbers.Close(); err != nil { // which costs some numbers, and nothing else
			p.log.Warn("closing the numbers of players", "err", err)
		}
	}
	switch {
	case p.member != nil:
		errs = append(errs, p.member.Close())
	case p.node != nil:
		errs = append(errs, p.node.Close())
	}
	if p.fleet != nil {
		errs = append(errs, p.fleet.Close())
	}
	if p.db != nil {
		errs = append(errs, p.db.Close())
	}
	return errors.Join(errs...)
}

// createTables makes the tables of the game, unless they are there.
func createTables(ctx context.Context, db *store.DB) error {
	if err := db.CreateRegistry(ctx); err != nil {
		return err
	}
	if err := numbers.Create(ctx, db.Registry()); err != nil {
		return err
	}
	return starter.Create(ctx, db)
}
