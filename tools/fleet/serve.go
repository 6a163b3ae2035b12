package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"runtime"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/live"
	"mergesafe/tools/internal/cli"
)

const defaultAddress = "127.0.0.1:9200"

// pageFlags are the flags of a command with a live page: see [night.openPage].
func pageFlags() []cliv3.Flag {
	return []cliv3.Flag{
		&cliv3.StringFlag{Name: "http"}, &cliv3.BoolFlag{Name: "control"}, &cliv3.StringFlag{Name: "token-file"}, &cliv3.StringSliceFlag{Name: "host"},
	}
}

// serve shows a campaign until it is interrupted. It works on nothing itself.
func (n *night) serve(ctx context.Context) error {
	page, err := n.openPage(ctx, cmp.Or(n.cmd.String("http"), defaultAddress))
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-page.ended:
	}
	return page.close()
}

// livePage is a live page that is served.
type livePage struct {
	cancel func()
	ended  chan struct{} // closed when it is not served any more
	err    error         // why, once ended is closed
}

// close shows the last state to all that look on, and ends the page. It may be called without
// a page.
func (p *livePage) close() error {
	if p == nil {
		return nil
	}
	p.cancel()
	<-p.ended
	return p.err
}

// openPage serves the live page of a campaign at an address, as the flags of [pageFlags] say,
// until it is closed. Without an address there is no page, and close does nothing.
func (n *night) openPage(ctx context.Context, address string) (*livePage, error) {
	cmd, book := n.cmd, n.book
	if address == "" {
		for _, flag := range []string{"control", "token-file", "host"} {
			if cmd.IsSet(flag) {
				return nil, cli.Usage("-%s is for the live page: want -http ADDRESS too", flag)
			}
		}
		return nil, nil
	}
	who, err := n.who()
	if err != nil {
		return nil, err
	}
	o := live.Options{File: book.File(), Command: n.command, Hosts: cmd.StringSlice("host"), Reports: folder(book.Plans()), Players: book.PlayersHandler(who)}
	if cmd.Bool("control") {
		o.Control = book
	}
	say := cli.LogOf(cmd)
	if cli.MaskedWord(address) != address { // the name server would be asked for parts of it
		return nil, cli.Usage("-http %s: want an address and a port, such as 127.0.0.1:8080", cli.MaskedWord(address))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	at, ok := l.Addr().(*net.TCPAddr)
	o.Private = !ok || !at.IP.IsLoopback()
	if o.Token, err = tokenOf(say, cmd.String("token-file"), o.Private, o.Control != nil); err != nil {
		l.Close()
		return nil, err
	}
	line := "live page: http://" + l.Addr().String() + "/"
	if o.Control == nil {
		line += ", read-only"
	}
	say.Say(line, "address", l.Addr().String())
	if o.Private {
		say.Say("other machines can reach this address: the page asks for the token in " + printable.Text(cmd.String("token-file")) +
			" as a password. It is not encrypted: use it on a network that you trust, or behind a proxy with TLS")
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &livePage{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.err = live.Serve(ctx, l, live.New(book, o), log.New(sayer{say}, "", 0))
	}()
	return p, nil
}

// sayer writes the complaints of the server into the log.
type sayer struct{ log *cli.Log }

func (s sayer) Write(line []byte) (int, error) {
	s.log.Say("live page: " + printable.Text(strings.TrimSpace(string(line))))
	return len(line), nil
}

// folder is the folder of the plans, which may come later. Nothing outside of it is opened,
// also where a link leads out.
type folder string

func (f folder) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.FS().Open(name)
}

// shortest is how long a token must be: nobody guesses one that a program made.
const shortest = 16

// tokenOf reads the token of a file, which is made if there is none.
func tokenOf(say *cli.Log, file string, private, control bool) (string, error) {
	switch {
	case file != "":
	case control:
		return "", cli.Usage("-control needs -token-file FILE: everyone with the token can pause, resume and skip. A missing file is created")
	case private:
		return "", cli.Usage("-http: other machines can reach this address, so the page needs -token-file FILE. A missing file is created")
	default:
		return "", nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := rand.Text()
		_, err := f.WriteString(token + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("-token-file: %w", err)
		}
		say.Say("created a token in " + printable.Text(file))
		return token, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("-token-file: %w", err)
	}
	f, err = os.Open(file)
	if err != nil {
		return "", fmt.Errorf("-token-file: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", errors.Join(err, fmt.Errorf("-token-file: other users can read %s: chmod 600 %s", printable.Text(file), printable.Quoted(file)))
	}
	lines := bufio.NewScanner(f)
	lines.Scan()
	token := strings.TrimSpace(lines.Text())
	if len(token) < shortest || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("-token-file: the first line of %s is not a token: want at least %d letters and digits; to create a token, give a file that does not exist", printable.Text(file), shortest)
	}
	return token, lines.Err()
}
