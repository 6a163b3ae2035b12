package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/gameworlds"
	"mergesafe/internal/printable"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/number"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// The databases of a merge, on one server.
const (
	homeWorld   = "home"   // the first world
	sourceWorld = "source" // the world that comes, whose keys collide with those of the first
	apartWorld  = "apart"  // as source, with keys and names of which none is in home: the dump needs that
	freshWorld  = "fresh"  // what servermerge makes
	loadedWorld = "loaded" // what is made by hand
)

// copied are the tables that are copied by hand. The others of the game are the same in all worlds.
var copied = []string{"accounts", "characters", "guilds", "guild_members", "items", "equipment", "mail", "friends"}

// mergeBench is a server with worlds, and the programs that merge them.
type mergeBench struct {
	options
	*sql.DB
	server  *servertest.Server
	cfg     *mysql.Config
	config  string               // of our programs: it names the worlds
	plan    string               // the file
	account string               // of the programs of the database, in a file: command lines are seen by all
	rows    map[string]int       // of each world
	took    map[string][]float64 // seconds of each step, a value for each round
}

// startMerge starts a server with two worlds of the game of a fleet, and builds our programs. The server stops with stop.
func startMerge(ctx context.Context, o options, name string, home, source int, args ...string) (b *mergeBench, stop func(), err error) {
	server, err := startServer(ctx, name, args...)
	if err != nil {
		return nil, nil, err
	}
	stop = func() { server.Stop() }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	b = &mergeBench{
		options: o, server: server, config: filepath.Join(o.dir, "config.toml"), plan: filepath.Join(o.dir, "plan.json"),
		account: filepath.Join(o.dir, "account.cnf"), rows: make(map[string]int), took: make(map[string][]float64),
	}
	if b.cfg, err = mysql.ParseDSN(server.DSN()); err != nil {
		return nil, nil, err
	}
	if b.DB, err = sql.Open("mysql", server.DSN()); err != nil {
		return nil, nil, err
	}
	host, port, err := net.SplitHostPort(b.cfg.Addr)
	if err != nil {
		return nil, nil, err
	}
	account := fmt.Appendf(nil, "[client]\nuser=%s\npassword=%s\nhost=%s\nport=%s\nprotocol=tcp\n", b.cfg.User, b.cfg.Passwd, host, port)
	config := append([]byte(gameworlds.FleetRules()), b.sources()...)
	if err := errors.Join(os.WriteFile(b.account, account, 0o600), os.WriteFile(b.config, config, 0o600)); err != nil {
		return nil, nil, err
	}
	o.log("filling the worlds")
	err = errors.Join(b.fill(ctx, homeWorld, 1, home, 0), b.fill(ctx, sourceWorld, 2, source, 0))
	if err == nil {
		err = build(ctx, o.dir, "./tools/servermerge", "./tools/mergecheck")
	}
	return b, stop, err
}

// build builds programs of the module that this one measures.
func build(ctx context.Context, to string, programs ...string) error {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "mergesafe").Output()
	if err != nil {
		return fmt.Errorf("look for the module that is measured, which is found from within bench: %w", err)
	}
	return runs(exec.CommandContext(ctx, "go", append([]string{"build", "-C", strings.TrimSpace(string(module)), "-o", to + "/"}, programs...)...))
}

// sources are the databases, as config.toml has them.
func (b *mergeBench) sources() (config []byte) {
	for _, name := range []string{homeWorld, sourceWorld, freshWorld} {
		config = fmt.Appendf(config, "[[source]]\nname = %q\ndsn = %q\n", name, "mysql:"+b.dsn(name))
	}
	return config
}

func (b *mergeBench) dsn(name string) string {
	cfg := b.cfg.Clone()
	cfg.DBName = name
	return cfg.FormatDSN()
}

// fill makes a world, whose keys are counted from 1 on, and then moved by an offset.
func (b *mergeBench) fill(ctx context.Context, name string, seed uint64, characters int, offset int64) error {
	if err := execute(ctx, b, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return err
	}
	db, err := sql.Open("mysql", b.dsn(name))
	if err != nil {
		return err
	}
	defer db.Close()
	game, err := gameworlds.FleetGame()
	if err != nil {
		return err
	}
	opts := gameworlds.Typical(seed)
	opts.Characters, opts.Items, opts.Offset = characters, 4*characters, offset
	world, err := game.Fill(ctx, db, sqldb.MySQL, opts)
	if err != nil {
		return err
	}
	for _, table := range copied {
		b.rows[name] += world.Rows[table]
	}
	return execute(ctx, db, "UPDATE counters SET next = (SELECT MAX(id) + 1 FROM items)")
}

// execute runs statements, one after the other.
func execute(ctx context.Context, on interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// runs runs a command. If it fails, the error has what it said.
func runs(cmd *exec.Cmd) error {
	if says, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, says)
	}
	return nil
}

// tool runs one of our programs. Any other exit code than 0 is an error.
func (b *mergeBench) tool(ctx context.Context, program string, args ...string) error {
	b.log("%s %s", program, args[0])
	return runs(exec.CommandContext(ctx, filepath.Join(b.dir, program), args...))
}

// steps are the commands of a merge.
func (b *mergeBench) steps() map[string][]string {
	return map[string][]string{
		"plan":  {"plan", "-config", b.config, "-into", freshWorld, "-o", b.plan, homeWorld, sourceWorld},
		"apply": {"apply", "-config", b.config, b.plan}, "verify": {"verify", "-config", b.config, b.plan},
		"open": {"open", "-config", b.config, b.plan}, "undo": {"undo", "-config", b.config, b.plan},
	}
}

func mariadbMerge(ctx context.Context, o options) ([]section, error) {
	return mergeByHand(ctx, o, "Merge on MariaDB", servertest.MariaDB, "--innodb-log-file-size=512M")
}

func mysqlMerge(ctx context.Context, o options) ([]section, error) {
	return mergeByHand(ctx, o, "Merge on MySQL", servertest.MySQL, "--innodb-redo-log-capacity=512M")
}

// mergeByHand measures the commands of an operator, whole processes, beside what one would do by hand.
func mergeByHand(ctx context.Context, o options, title, server, redo string) ([]section, error) {
	for _, program := range []string{"mariadb-dump", "mariadb"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w: %s; on Debian or Ubuntu: apt-get install mariadb-client", errNoProgram, program)
		}
	}
	b, stop, err := startMerge(ctx, o, server, 1000, o.characters, "--innodb-buffer-pool-size=1G", redo, "--local-infile=ON", "--skip-log-bin")
	if err != nil {
		return nil, err
	}
	defer stop()
	err = b.fill(ctx, apartWorld, 2, o.characters, 100_000_000)
	for _, at := range []string{"accounts.login", "characters.name", "guilds.name"} {
		table, column, _ := strings.Cut(at, ".")
		err = errors.Join(err, execute(ctx, b, fmt.Sprintf("UPDATE %s.%s SET %s = CONCAT('~', %[3]s)", apartWorld, table, column)))
	}
	if err != nil {
		return nil, err
	}

	const dump, loader = "mariadb-dump | mariadb of both worlds into a new database", "mydumper and myloader, 4 threads, the same"
	ways := []func(context.Context) error{
		func(ctx context.Context) error { return b.byHand(ctx, dump, b.dumpAndLoad) },
		b.byServermerge,
	}
	_, noLoader := exec.LookPath("myloader")
	if noLoader == nil {
		ways = append(ways, func(ctx context.Context) error { return b.byHand(ctx, loader, b.myloader) })
	}
	for range o.rounds {
		for _, way := range ways {
			if err := way(ctx); err != nil {
				return nil, err
			}
		}
		slices.Reverse(ways) // so that none always comes first
	}
	s := section{title: title, intro: fmt.Sprintf("A world of %s rows and one of %s rows become a new database on the same server. All keys collide; by hand it is a copy whose keys do not. Whole processes; the ratio is of their times to the dump's.",
		printable.Number(int64(b.rows[homeWorld])), printable.Number(int64(b.rows[sourceWorld])))}
	s.rows = append(s.rows, b.row(dump, dump))
	if noLoader == nil {
		s.rows = append(s.rows, b.row(loader, dump))
	} else {
		s.rows = append(s.rows, row{what: loader, note: "not measured: apt-get install mydumper"})
	}
	for _, step := range []string{"plan", "apply", "verify", "undo", all} {
		s.rows = append(s.rows, b.row(step, dump))
	}
	return []section{s}, nil
}

// all is the row of the three commands together that do more than the dump does.
const all = "plan, apply and verify"

// row is what took so long.
func (b *mergeBench) row(what, reference string) row {
	t := median(b.took[what])
	r := row{what: what, measured: fmt.Sprintf("%.1f s", t), note: fmt.Sprintf("%.0f k rows/s", float64(b.rows[sourceWorld]+b.rows[homeWorld])/t/1000)}
	var ratios []float64
	for i, t := range b.took[what] {
		ratios = append(ratios, t/b.took[reference][i])
	}
	return r.compared(ratios)
}

// timed notes the seconds that a step takes.
func (b *mergeBench) timed(what string, run func() error) error {
	began := time.Now()
	err := run()
	b.took[what] = append(b.took[what], time.Since(began).Seconds())
	return err
}

// byServermerge measures the merge of a world, and takes it back. Verify must say PASS.
func (b *mergeBench) byServermerge(ctx context.Context) error {
	if err := os.RemoveAll(b.plan); err != nil {
		return err
	}
	together := 0.
	for _, step := range []string{"plan", "apply", "verify", "undo"} {
		if step == "undo" {
			b.took[all] = append(b.took[all], together)
			if err := b.complete(ctx, freshWorld, sourceWorld); err != nil {
				return err
			}
		}
		if err := b.timed(step, func() error { return b.tool(ctx, "servermerge", b.steps()[step]...) }); err != nil {
			return err
		}
		together += b.took[step][len(b.took[step])-1]
	}
	return nil
}

func (b *mergeBench) byHand(ctx context.Context, how string, run func(context.Context) error) error {
	b.log("%s", how)
	if err := execute(ctx, b, "DROP DATABASE IF EXISTS "+loadedWorld, "CREATE DATABASE "+loadedWorld+" CHARACTER SET utf8mb4"); err != nil {
		return err
	}
	if err := b.timed(how, func() error { return run(ctx) }); err != nil {
		return err
	}
	return b.complete(ctx, loadedWorld, apartWorld)
}

// complete returns an error unless a database has the rows of the first world and of another one. (Accounts are of
// persons, who may play in both.)
func (b *mergeBench) complete(ctx context.Context, name, from string) error {
	for _, table := range copied[1:] {
		var got, want int
		if err := b.QueryRowContext(ctx, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %[2]s.%[1]s), (SELECT COUNT(*) FROM %[3]s.%[1]s) + (SELECT COUNT(*) FROM %[4]s.%[1]s)",
			table, name, homeWorld, from)).Scan(&got, &want); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s.%s has %d rows, want %d", name, table, got, want)
		}
	}
	return nil
}

// dumpAndLoad copies by mariadb-dump | mariadb. Both programs are left as they are but for what is asked: one snapshot.
func (b *mergeBench) dumpAndLoad(ctx context.Context) error {
	for i, world := range []string{homeWorld, apartWorld} {
		words := []string{"--defaults-file=" + b.account, "--single-transaction"}
		if i > 0 {
			words = append(words, "--no-create-info")
		}
		dump := exec.CommandContext(ctx, "mariadb-dump", slices.Concat(words, []string{world}, copied)...)
		if err := connect(dump, exec.CommandContext(ctx, "mariadb", "--defaults-file="+b.account, loadedWorld)); err != nil {
			return err
		}
	}
	return nil
}

// connect runs two commands, the output of the first being the input of the
// second. It fails if either does.
func connect(first, second *exec.Cmd) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	first.Stdout, second.Stdin = w, r
	var says [2]bytes.Buffer
	first.Stderr, second.Stderr = &says[0], &says[1]
	errs := []error{first.Start(), second.Start()}
	// They have ends of their own now: with ours open, neither would see that
	// the other has gone.
	r.Close()
	w.Close()
	for i, cmd := range []*exec.Cmd{first, second} {
		if errs[i] == nil {
			errs[i] = cmd.Wait()
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), errs[i], says[i].Bytes())
		}
	}
	return errors.Join(errs...)
}

// optimizeKeys is the flag of myloader that makes indexes after the rows.
var optimizeKeys = regexp.MustCompile(`--(innodb-)?optimize-keys`)

// myloader copies by files in a folder. The large world makes the tables, with its indexes after its rows if
// this version can do that. There are 4 threads, as servermerge has.
func (b *mergeBench) myloader(ctx context.Context) error {
	files, err := os.MkdirTemp(b.dir, "mydumper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	help, _ := exec.CommandContext(ctx, "myloader", "--help").Output()
	for i, world := range []string{apartWorld, homeWorld} {
		dump := []string{"--defaults-file=" + b.account, "-t", "4", "-B", world, "-T", strings.Join(copied, ","), "-o", filepath.Join(files, world)}
		load := []string{"--defaults-file=" + b.account, "-t", "4", "-B", loadedWorld, "-d", filepath.Join(files, world)}
		if i > 0 {
			dump = append(dump, "--no-schemas")
		} else if flag := optimizeKeys.Find(help); flag != nil {
			load = append(load, string(flag))
		}
		if err := errors.Join(runs(exec.CommandContext(ctx, "mydumper", dump...)), runs(exec.CommandContext(ctx, "myloader", load...))); err != nil {
			return err
		}
	}
	return nil
}

// rowsRead counts how often a merge reads a row, by the server's own statistics.
func rowsRead(ctx context.Context, o options) ([]section, error) {
	const characters, players = 8_850, 25_000 // and 100,000 rows of each world
	b, stop, err := startMerge(ctx, o, servertest.MariaDB, characters, characters, "--userstat=ON")
	if err != nil {
		return nil, err
	}
	defer stop()
	const intro = "How often a row is read on MariaDB, of two worlds of %s rows together, by its userstat. %s"
	counted, rows := section{title: "Rows read"}, b.rows[homeWorld]+b.rows[sourceWorld]
	counted.intro = fmt.Sprintf(intro, printable.Number(int64(rows)), "Their keys collide.")
	if counted.rows, err = b.reads(ctx, rows); err != nil {
		return nil, err
	}
	if err := execute(ctx, b, "DROP DATABASE "+homeWorld, "DROP DATABASE "+sourceWorld, "DROP DATABASE "+freshWorld); err != nil {
		return nil, err
	}
	ids, rows := section{title: "Rows read, IDs"}, 2*4*players
	ids.intro = fmt.Sprintf(intro, printable.Number(int64(rows)), "They were written by store.")
	err = errors.Join(b.fillStore(ctx, homeWorld, 1, players), b.fillStore(ctx, sourceWorld, 2, players), os.Remove(b.plan), os.WriteFile(b.config, b.sources(), 0o600))
	if err == nil {
		ids.rows, err = b.reads(ctx, rows)
	}
	return []section{counted, ids}, err
}

// reads is how often each step of a merge reads a row.
func (b *mergeBench) reads(ctx context.Context, of int) (all []row, err error) {
	for _, step := range []string{"mergecheck", "plan", "apply", "verify", "open"} {
		program, args := "servermerge", b.steps()[step]
		if step == "mergecheck" {
			program, args = step, []string{"-config", b.config, homeWorld, sourceWorld}
		}
		err := execute(ctx, b, "FLUSH TABLE_STATISTICS")
		if err == nil {
			err = b.tool(ctx, program, args...)
		}
		var ofWorlds, ofNew float64
		if err == nil {
			err = b.QueryRowContext(ctx, `SELECT COALESCE(SUM(IF(table_schema IN (?, ?), rows_read, 0)), 0), COALESCE(SUM(IF(table_schema = ?, rows_read, 0)), 0)
FROM information_schema.table_statistics`, homeWorld, sourceWorld, freshWorld).Scan(&ofWorlds, &ofNew)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, row{what: step, measured: fmt.Sprintf("%.2f times", ofWorlds/float64(of)), note: fmt.Sprintf("and a row of the new database %.2f times", ofNew/float64(of))})
	}
	return all, nil
}

// fillStore makes a world of the starter tables, with three items for each player.
func (b *mergeBench) fillStore(ctx context.Context, name string, server gameid.ServerID, players int) error {
	if err := execute(ctx, b, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return err
	}
	db, err := openStore(ctx, "mysql:"+b.dsn(name))
	if err != nil {
		return err
	}
	defer db.Close()
	node, err := db.OpenNode(ctx, server, storetest.NodeOptions)
	if err != nil {
		return err
	}
	defer node.Close()
	ids, loot := gameid.NewGenerator[entity.Player](node), gameid.NewGenerator[entity.Item](node)
	now := entity.Time(time.Now())
	for first := 0; first < players; first += 500 {
		var heroes []entity.Player
		var items []entity.Item
		for n := first; n < min(first+500, players); n++ {
			id, err := ids.Next()
			if err != nil {
				return err
			}
			code := int64(server)*1_000_000 + int64(n)
			heroes = append(heroes, entity.Player{ID: id, Account: fmt.Sprint("account", code), Name: fmt.Sprint("name", code), Level: 1, Number: number.Number(code), CreatedAt: now, UpdatedAt: now})
			for range 3 {
				item, err := loot.Next()
				if err != nil {
					return err
				}
				items = append(items, entity.Item{ID: item, Owner: id, Template: 1, Count: 1, CreatedAt: now})
			}
		}
		if err := errors.Join(starter.Players.Insert(ctx, db, heroes...), starter.Items.Insert(ctx, db, items...)); err != nil {
			return err
		}
	}
	return nil
}
