package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// pipe is what one would do by hand: mariadb-dump | mariadb.
type pipe struct {
	dump, load string // the programs
	account    string // a file with the server and the account
}

func findPipe() (p pipe, err error) {
	if p.dump, err = exec.LookPath("mariadb-dump"); err == nil {
		p.load, err = exec.LookPath("mariadb")
	}
	if err != nil {
		err = notInstalled{fmt.Errorf("%w; on Debian or Ubuntu: apt-get install mariadb-client", err)}
	}
	return p, err
}

// configure writes the account into a file: command lines are seen by all.
func (p *pipe) configure(w *mergeWorlds) {
	host, port, err := net.SplitHostPort(w.cfg.Addr)
	w.must(err)
	p.account = filepath.Join(w.dir, "account.cnf")
	w.must(os.WriteFile(p.account, fmt.Appendf(nil, "[client]\nuser=%s\npassword=%s\nhost=%s\nport=%s\nprotocol=tcp\n", w.cfg.User, w.cfg.Passwd, host, port), 0o600))
}

// run copies tables of worlds into an empty database. The first world makes
// them. Both programs are left as they are but for what is asked: one snapshot.
func (p pipe) run(ctx context.Context, to string, tables []string, worlds ...string) error {
	for i, world := range worlds {
		words := []string{"--defaults-file=" + p.account, "--single-transaction", world}
		if i > 0 {
			words = append(words, "--no-create-info")
		}
		dump := exec.CommandContext(ctx, p.dump, append(words, tables...)...)
		if err := connect(dump, exec.CommandContext(ctx, p.load, "--defaults-file="+p.account, to)); err != nil {
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
