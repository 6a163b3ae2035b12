package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

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
	startTimeout = 30 * time.Second
	drainTimeout = 10 * time.Second
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
  -version          print the version of this program

  POST /ids/{kind}?count=N   N new IDs, 1 to 10000 (default 1), rising:
                             {"ids":["00ddceac5bd00007003f"]}
                             if Accept prefers text/plain, one on each line.
                             The body is not read; one that says count is refused
  GET  /healthz              200 if IDs can be made, else 503
  GET  /metrics              for Prometheus

503 means that no IDs can be made now, and the body says why; the log says once that
it began, and once that it is over. If the database cannot be reached, that is
after up to 10 s (right after a start about 2 s) until it is back, and Retry-After
is set. If the
node has ended, because another process took its number over, it stays so:
restart the process. An ID that got lost on the way is not given again: ask again.

Exit codes: 0 stopped as asked; 1 stopped after its node had ended, or not
cleanly; 2 did not start.

Examples:
  idserver -socket /run/game/ids.sock -listen off
  curl -X POST 'http://127.0.0.1:8080/ids/item?count=100'
  curl -X POST -H 'Accept: text/plain' --unix-socket /run/game/ids.sock http://x/ids/player
`

// options are what the command line says.
type options struct {
	config, listen, socket string
	kinds                  []string
	version                bool
}

// run is the program. It returns its exit code.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer) int {
	mask := masked.Of(args, flagNames)
	opts, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "idserver: %s\nFor help: idserver -h\n", mask.Text(err.Error()))
		return exitNotStarted
	}
	if opts.version {
		info, _ := debug.ReadBuildInfo()
		fmt.Fprintln(stdout, version(info))
		return exitOK
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	p, err := start(ctx, opts, env, log)
	if err != nil {
		fmt.Fprintf(stderr, "idserver: %s\n", mask.Text(err.Error()))
		return exitNotStarted
	}
	if err := p.serve(ctx); err != nil {
		log.Error("stopped", "err", err)
		return exitFailed
	}
	log.Info("stopped")
	return exitOK
}

// version is what -version prints: the version of the module, the commit and Go's version.
func version(info *debug.BuildInfo) string {
	if info == nil { // built by something else than the go command
		return "idserver of an unknown version"
	}
	text := "idserver " + cmp.Or(info.Main.Version, "(devel)") + " (" + cmp.Or(info.Main.Path, info.Path)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += ", commit " + s.Value[:min(12, len(s.Value))]
		}
	}
	return text + ", " + info.GoVersion + ")"
}

// flagNames are the flags that parse knows.
var flagNames = []string{"config", "listen", "socket", "kinds", "version", "h", "help"}

func parse(args []string) (options, error) {
	var o options
	var kinds string
	flags := flag.NewFlagSet("idserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned, and usage is written by hand
	flags.StringVar(&o.config, "config", "config.toml", "")
	flags.StringVar(&o.listen, "listen", "", "")
	flags.StringVar(&o.socket, "socket", "", "")
	flags.StringVar(&kinds, "kinds", "player,item,guild", "")
	flags.BoolVar(&o.version, "version", false, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.kinds = strings.Split(kinds, ",")
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

// process is an id server from its start to its end, with all that it has to
// close.
type process struct {
	db        *store.DB
	node      *gameid.Node
	fleet     *fleet.Fleet  // nil unless the configuration names a fleet registry
	member    *fleet.Member // the same; it owns the node
	listeners []net.Listener
	http      *http.Server
	log       *slog.Logger
}

// start opens everything. What it opened before something failed it closes.
func start(ctx context.Context, opts options, env func(string) (string, bool), log *slog.Logger) (_ *process, err error) {
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
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	p := &process{log: log}
	defer func() {
		if err != nil {
			p.close() // the first error is the one that counts
		}
	}()
	if p.db, err = store.Open(ctx, dsn.Reveal()); err != nil {
		return nil, err
	}
	if err := p.db.CreateRegistry(ctx); err != nil {
		return nil, err
	}
	if cfg.AcceptLossyDatabase {
		p.db.AcceptLossyDatabase()
	}
	if err := p.openNode(ctx, cfg, env); err != nil {
		return nil, err
	}
	name, number := cfg.Server.Name, p.node.Server()
	if name != "" && cfg.Server.Number != number { // one of a range
		name = fmt.Sprintf("%s-%s", name, number)
	}
	if err := p.db.Registry().SetName(ctx, number, name); err != nil {
		return nil, err
	}
	// Only now: a second process with this configuration shall hear that the
	// number is taken, and not touch the first one's socket.
	if err := p.listen(opts, cfg.Server.Listen); err != nil {
		return nil, err
	}
	p.http = &http.Server{
		Handler:           newServer(p.node, opts.kinds, log),
		ReadHeaderTimeout: requestTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      2 * requestTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    8 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	return p, nil
}

// openNode starts the node of the server, or of any free number of its range:
// with the consent of the fleet registry, if the configuration names one.
func (p *process) openNode(ctx context.Context, cfg *config.Config, env func(string) (string, bool)) error {
	dsn, err := cfg.Registry.DSN(env)
	if err != nil {
		return err
	}
	number, numbers := cfg.Server.Number, store.NumberRange(cfg.Server.Numbers)
	ranged := !number.IsValid()
	switch {
	case dsn.IsZero() && ranged:
		p.node, err = p.db.OpenFreeNode(ctx, numbers, gameid.Options{})
		return err
	case dsn.IsZero():
		p.node, err = p.db.OpenNode(ctx, number, gameid.Options{})
		return err
	}
	if p.fleet, err = fleet.Open(dsn.Reveal()); err != nil {
		return err
	}
	member := fleet.Options{Name: cfg.Server.Name, OnChange: func(s fleet.Status) { p.log.Warn("fleet registry", "state", s.State, "err", s.Err) }}
	if ranged {
		p.member, err = p.fleet.JoinFree(ctx, p.db.Registry(), numbers, gameid.Options{}, member)
	} else {
		p.member, err = p.fleet.Join(ctx, p.db.Registry(), number, gameid.Options{}, member)
	}
	if err == nil {
		p.node = p.member.Node
	}
	return err
}

func (p *process) listen(opts options, configured string) error {
	if address := cmp.Or(opts.listen, configured); address != "off" {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		p.listeners = append(p.listeners, l)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
			p.log.Warn("this address is not of this machine alone: every program that reaches it can take IDs, without a password", "address", tcp.String())
		}
	}
	if opts.socket != "" {
		l, err := listenUnix(opts.socket)
		if err != nil {
			return err
		}
		p.listeners = append(p.listeners, l)
	}
	for _, l := range p.listeners {
		p.log.Info("serving", "server", p.node.Server(), "database", p.db.String(), "network", l.Addr().Network(), "address", l.Addr().String())
	}
	return nil
}

// serve answers requests until ctx ends, then stops cleanly. When the node has
// ended, it goes on to say so to all that ask.
func (p *process) serve(ctx context.Context) error {
	failed := make(chan error, len(p.listeners))
	for _, l := range p.listeners {
		go func() { failed <- p.http.Serve(l) }()
	}
	var cause error
	ended := p.node.Done()
	for running := true; running; {
		select {
		case <-ended:
			cause = p.node.Err()
			p.log.Error("the node has ended, no more IDs are given out: restart this process", "err", cause)
			ended = nil
			continue
		case <-ctx.Done():
			p.log.Info("stopping")
		case err := <-failed:
			p.log.Error("stopping: no more connections can be accepted", "err", err)
			cause = errors.Join(cause, err)
		}
		running = false
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := p.http.Shutdown(drain)
	if err != nil {
		p.http.Close()
	}
	return errors.Join(cause, err, p.close())
}

// close closes what is open, in the order that lets the node give its lease
// back.
func (p *process) close() error {
	for _, l := range p.listeners {
		l.Close() // closed by the HTTP server already, if there is one
	}
	var errs []error
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
