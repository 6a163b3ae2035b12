package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/printable"
)

// The questions that a hook may answer. Exit code 0 or a status of 2xx is yes, anything else
// is no, and then nothing is written. The other kinds of events are reported to hooks.
const (
	AskStopped  = "stopped"   // is the game of this world stopped?
	AskBackedUp = "backed-up" // is there a backup of this world? The hook may make it
	AskRoom     = "room"      // is there room for so many bytes where the new database is made?
	AskFenced   = "fenced"    // can no game server of this world be started? Asked after the fences were set
)

// HookTimeout is the default of [Hook.Timeout].
const HookTimeout = time.Minute

// Message is the message to a hook: a command reads it as JSON from its standard input, and an
// HTTP request has it as its body. It holds no DSN and no secret.
type Message struct {
	Campaign string    `json:"campaign"`
	Event    string    `json:"event"` // the kind of the event, or the question
	At       time.Time `json:"at"`
	Number   int64     `json:"number,omitempty"`  // of the event; questions have none
	World    string    `json:"world,omitempty"`   // which the question is about
	Merge    string    `json:"merge,omitempty"`   // its name; empty if it is about the campaign
	Worlds   []string  `json:"worlds,omitempty"`  // of the merge
	New      string    `json:"new,omitempty"`     // the name of the new database
	Address  string    `json:"address,omitempty"` // of the new database: a DSN without user and password
	Bytes    int64     `json:"bytes,omitempty"`   // how much room the merge needs, at the most
	Text     string    `json:"text,omitempty"`    // for people
}

// Name is what people call a hook: its command without arguments, or its address without user,
// password, query and fragment: what is left out may be secret.
func (h Hook) Name() string {
	if h.URL == "" {
		return printable.Text(strings.Join(h.Run[:min(1, len(h.Run))], ""))
	}
	u, err := url.Parse(h.URL)
	if err != nil {
		return "with an address that is none"
	}
	return printable.Text((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

// Call tells the hook something or asks it, whichever m is. It returns an error also if the
// hook says no or takes longer than its timeout. The command has ended then, with the
// processes of its group.
func (h Hook) Call(ctx context.Context, m Message) error {
	timeout := cmp.Or(h.Timeout, HookTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	call := h.run
	if h.URL != "" {
		call = h.post
	}
	said := new(tail)
	err = call(limited, m, append(body, '\n'), said)
	if err == nil {
		return nil
	}
	reason := err.Error()
	switch {
	case ctx.Err() != nil:
		reason = "it was ended when the work ended"
	case limited.Err() != nil:
		reason = fmt.Sprintf("it was ended because it took longer than %s", timeout)
	}
	if last := said.text(); last != "" {
		reason += "; it says: " + last
	}
	return fmt.Errorf("the hook %s: %s", h.Name(), reason)
}

// hookGrace is how long a command has to end by itself once it was told to.
const hookGrace = 5 * time.Second

func (h Hook) run(ctx context.Context, m Message, body []byte, said *tail) error {
	if len(h.Run) == 0 {
		return errors.New("it has no command and no address")
	}
	cmd := exec.CommandContext(ctx, h.Run[0], h.Run[1:]...)
	cmd.Stdin = bytes.NewReader(body)
	cmd.Env = append(os.Environ(), "FLEET_EVENT="+m.Event, "FLEET_WORLD="+m.World, "FLEET_MERGE="+m.Merge,
		"FLEET_NEW="+m.New, "FLEET_ADDRESS="+m.Address)
	// A pipe of our own: Wait would wait for whoever else writes to one of its own.
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = in, in, hookGrace
	apart(cmd)
	err = cmd.Start()
	in.Close()
	if err != nil {
		return fmt.Errorf("it cannot be started: %w", err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(said, out)
	}()
	err = cmd.Wait()
	endGroup(cmd.Process)
	select {
	case <-copied:
	case <-time.After(time.Second): // a process that left the group has the other end
		out.Close()
		<-copied
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return fmt.Errorf("it ended with exit code %d", exit.ExitCode())
	}
	return err
}

func (h Hook) post(ctx context.Context, _ Message, body []byte, said *tail) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is none: want http://HOST/PATH or https://HOST/PATH")
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which may hold a secret
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	const most = 1 << 20
	_, _ = io.Copy(said, io.LimitReader(answer.Body, most))
	switch code := answer.StatusCode; {
	case code/100 == 3:
		return fmt.Errorf("it answers %d, a redirect: want the final address", code)
	case code/100 != 2:
		return fmt.Errorf("it answers %d %s", code, http.StatusText(code))
	}
	return nil
}

// notify tells m to all hooks that want its kind. What fails is for the log: a campaign does
// not depend on it.
func (c *Campaign) notify(ctx context.Context, m Message) (failed []error) {
	for _, h := range c.hooksOn(m.Event) {
		m.Campaign = c.Name
		if err := h.Call(ctx, m); err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// ask asks all hooks of a question; asked is false if there are none. All have to say yes.
func (c *Campaign) ask(ctx context.Context, m Message) (asked bool, err error) {
	m.Campaign = c.Name
	for _, h := range c.hooksOn(m.Event) {
		if err := h.Call(ctx, m); err != nil {
			return true, err
		}
		asked = true
	}
	return asked, nil
}

func (c *Campaign) hooksOn(kind string) (all []Hook) {
	for _, h := range c.Hooks {
		if slices.Contains(h.On, kind) {
			all = append(all, h)
		}
	}
	return all
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	more bool
}

const (
	tailBytes = 2000
	tailLines = 10
)

func (t *tail) Write(b []byte) (int, error) {
	if len(t.kept)+len(b) > tailBytes {
		t.more = true
	}
	t.kept = append(t.kept, b[max(0, len(b)-tailBytes):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-tailBytes):]...)
	return len(b), nil
}

func (t *tail) text() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?")), "\n")
	if len(lines) > tailLines {
		lines, t.more = lines[len(lines)-tailLines:], true
	}
	for i := range lines {
		lines[i] = printable.Text(strings.TrimSpace(lines[i]))
	}
	s := strings.Join(lines, " / ")
	if t.more && s != "" {
		s = "... " + s
	}
	return s
}
