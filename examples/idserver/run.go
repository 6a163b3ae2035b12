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
	"strings"
	"syscall"
	"time"

	"mergesafe/examples/idserver/answers"
	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/internal/masked"
	"mergesafe/store"
	"mergesafe/store/fleet"
)

// The exit codes.
const (
	exitOK         = 0 // stopped as it was asked to
	exitFailed     = 1 // the node had ended, or it could not stop cleanly
	exitNotStarted = 2 // wrong usage or configuration, the database, or the number is taken
)

const (
	requestTimeout = 5 * time.Second
	startTimeout   = 30 * time.Second
	drainTimeout   = 10 * time.Second
)

const usage = `Usage: idserver [flags]

Gives out the IDs of one world to game servers in any language. It reads
[server], [database] and [registry] of config.toml, is the node of that server
number, and runs until SIGINT or SIGTERM.

  -config FILE      the configuration (default "config.toml")
  -listen ADDRESS   listen here instead of where the file says; "off": only at
                    the socket. Every program that reaches the address can
                    take IDs without a password, so keep it to the machine
  -socket PATH      listen at this Unix socket too, open to the owner and the
                    group of the process
  -kinds LIST       the kinds that may be asked for (default "player,item,guild").
                    They are counted apart; no two IDs are the same, of whatever kind

  POST /ids/{kind}?count=N   N new IDs, 1 to 10000 (default 1), rising:
                             {"ids":["00ddceac5bd00007003f"]}
                             if Accept begins with text/plain, one on each line.
                             The body is not read; one that says count is refused
  GET  /healthz              200 if IDs can be made, else 503
  GET  /metrics              for Prometheus

503 means that no IDs can be made now, and the body says why; the log says once that
it began, and once that it is over. If the database cannot be reached, that is
after up to 10 s (right after a start about 2 s) until it is back, and Retry-After
is set. If the node has ended, because another process took its number over, it
stays so: restart the process. If an answer is lost on the way, ask again: its IDs
are not given again.

Exit codes: 0 stopped as asked; 1 stopped after its node had ended, or not
cleanly; 2 did not start.

Examples:
  idserver -socket /run/game/ids.sock -listen off
  curl -X POST 'http://127.0.0.1:8080/ids/item?count=100'
  curl -X POST -H 'Accept: text/plain' --unix-socket /run/game/ids.sock http://x/ids/player
`

// environment looks a variable up, as os.LookupEnv does.
type environment = func(name string) (value string, ok bool)

// options are what the command line says.
type options struct {
	config, listen, socket string
	kinds                  []string
}

// run is the program. It returns its exit code.
func run(ctx context.Context, args []string, env environment, stdout, stderr io.Writer) int {
	mask := masked.Of(args, []string{"config", "listen", "socket", "kinds", "h", "help"})
	opts, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "idserver: %s\nFor help: idserver -h\n", mask.Text(err.Error()))
		return exitNotStarted
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	started, err := serve(ctx, opts, env, log)
	switch {
	case err == nil:
		log.Info("stopped")
		return exitOK
	case started:
		log.Error("stopped", "err", err)
		return exitFailed
	default:
		fmt.Fprintf(stderr, "idserver: %s\n", mask.Text(err.Error()))
		return exitNotStarted
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("idserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned, and usage is written by hand
	flags.StringVar(&o.config, "config", "config.toml", "")
	flags.StringVar(&o.listen, "listen", "", "")
	flags.StringVar(&o.socket, "socket", "", "")
	kinds := flags.String("kinds", "player,item,guild", "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.kinds = strings.Split(*kinds, ",")
	for _, kind := range o.kinds {
		if kind == "" || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return o, fmt.Errorf("-kinds has %q: want names of a-z, 0-9, _ and - with commas between them", kind)
		}
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.listen == "off" && o.socket == "":
		return o, errors.New("-listen off needs -socket: there is nowhere else to listen")
	}
	return o, nil
}

// serve answers requests until ctx ends, then stops cleanly. After the end of the
// node it keeps answering, with the reason.
func serve(ctx context.Context, opts options, env environment, log *slog.Logger) (started bool, err error) {
	closing := func(close func() error) { err = errors.Join(err, close()) }
	cfg, err := config.Load(opts.config)
	if err == nil {
		err = cfg.CheckServer()
	}
	if err != nil {
		return false, err
	}
	if !cfg.Server.Number.IsValid() {
		return false, fmt.Errorf("%s: [server] has numbers: want a number", opts.config)
	}
	dsn, err := cfg.Database.DSN(env)
	if err != nil {
		return false, err
	}
	fleetDSN, err := cfg.Registry.DSN(env)
	if err != nil {
		return false, err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	db, err := store.Open(starting, dsn.Reveal())
	if err != nil {
		return false, err
	}
	defer closing(db.Close)
	if err := db.CreateRegistry(starting); err != nil {
		return false, err
	}
	node, closeNode, err := openNode(starting, db, cfg, fleetDSN.Reveal(), log)
	if err != nil {
		return false, err
	}
	defer closing(closeNode)
	if err := db.Registry().SetName(starting, node.Server(), cfg.Server.Name); err != nil {
		return false, err
	}

	server := &http.Server{
		Handler:           answers.New(node, opts.kinds, log),
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      2 * requestTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 2)
	// Only now: a second process with this configuration shall hear that the
	// number is taken, and not touch the first one's socket.
	for _, at := range [][2]string{{"tcp", cmp.Or(opts.listen, cfg.Server.Listen)}, {"unix", opts.socket}} {
		if at[1] == "" || at == [2]string{"tcp", "off"} {
			continue
		}
		l, err := listen(at[0], at[1])
		if err != nil {
			return false, errors.Join(err, server.Close())
		}
		log := log.With("network", at[0], "address", l.Addr().String())
		if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			log.Warn("other machines can reach this address, and take IDs without a password")
		}
		log.Info("serving", "server", node.Server(), "database", db.String())
		go func() { failed <- server.Serve(l) }()
	}

	select {
	case <-node.Done():
		err = node.Err()
		log.Error("the node has ended, no more IDs are given out: restart this process", "err", err)
		select {
		case <-ctx.Done():
		case cause := <-failed:
			err = errors.Join(err, cause)
		}
	case <-ctx.Done():
	case err = <-failed:
	}
	log.Info("stopping")
	drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if stopErr := server.Shutdown(drain); stopErr != nil {
		err = errors.Join(err, stopErr, server.Close())
	}
	return true, err
}

// openNode starts the node: with the consent of the fleet registry, if there is
// the DSN of one.
func openNode(ctx context.Context, db *store.DB, cfg *config.Config, dsn string, log *slog.Logger) (
	node *gameid.Node, close func() error, err error) {
	server, options := cfg.Server, store.NodeOptions{AcceptLossyDatabase: cfg.AcceptLossyDatabase}
	if dsn == "" {
		node, err := db.OpenNode(ctx, server.Number, options)
		return node, node.Close, err
	}
	registry, err := fleet.Open(dsn)
	if err != nil {
		return nil, nil, err
	}
	member, err := registry.Join(ctx, db.Registry(), server.Number, options, fleet.Options{
		Name:     server.Name,
		OnChange: func(s fleet.Status) { log.Warn("fleet registry", "state", s.State, "err", s.Err) },
	})
	if err != nil {
		return nil, nil, errors.Join(err, registry.Close())
	}
	return member.Node, func() error { return errors.Join(member.Close(), registry.Close()) }, nil
}

// listen also replaces a Unix socket that a killed process has left.
func listen(network, address string) (net.Listener, error) {
	if info, err := os.Lstat(address); network == "unix" && err == nil && info.Mode().Type() == fs.ModeSocket {
		if conn, err := net.Dial(network, address); err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(address)
		}
	}
	l, err := net.Listen(network, address)
	if err == nil && network == "unix" {
		err = os.Chmod(address, 0o660) // for the owner and the group of the process
	}
	return l, err
}
