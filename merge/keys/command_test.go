package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/inventory"
)

// The test binary is the command as well: "codec LIE FILE" notes in the file that it was
// started, and with what environment.
func TestMain(m *testing.M) {
	if len(os.Args) != 4 || os.Args[1] != "codec" {
		os.Exit(m.Run())
	}
	note := fmt.Sprintf("%d %d %s\n", os.Getpid(), len(os.Environ()), os.Getenv("SECRET"))
	f, err := os.OpenFile(os.Args[3], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(note)
	}
	lie := os.Args[2]
	switch {
	case err != nil:
	case lie == "child": // the codec is a child that outlives its parent
		child := exec.Command(os.Args[0], "codec", "hang", os.Args[3])
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err = child.Start(); err == nil {
			_, err = fmt.Fprintf(f, "child %d\n", child.Process.Pid)
		}
	case lie == "endless":
		for err == nil {
			_, err = os.Stdout.WriteString("0123456789abcdef0123456789abcdef")
		}
	default:
		err = inventory.Codec{Lie: lie}.Serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command returns the format of the command, and the file of its notes.
func bags(t *testing.T, lie string) (format, notes string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	notes = filepath.Join(t.TempDir(), "it's notes")
	return fmt.Sprintf("exec '%s' codec '%s' '%s'", program, lie, strings.ReplaceAll(notes, "'", "''")), notes
}

func shift(k CellKey) (Integer, error) {
	v, _ := k.Value.Add(20_000_000)
	return v, nil
}

func splice(t *testing.T, codecs Codecs, format string, bag []byte) ([]byte, error) {
	t.Helper()
	r, err := ParseRow(format, "bag", codecs)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Splice([][]byte{bag}, shift)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// A command finds keys and puts new ones in, is started once for all workers, sees no
// password of the environment, and ends at the end.
func TestCommand(t *testing.T) {
	t.Setenv("SECRET", "hunter2")
	format, notes := bags(t, "")
	codecs, stop := Commands(t.Context(), []string{format, "list sep=' ' every", format})
	defer stop()
	if len(codecs) != 1 {
		t.Fatal(codecs)
	}
	done := make(chan error)
	for worker := range uint64(4) {
		go func() {
			var err error
			for i := uint64(1); i < 50 && err == nil; i++ {
				out, spliceErr := splice(t, codecs, format, inventory.Bag("hers", i, worker))
				if err = spliceErr; err == nil && !bytes.Equal(out, inventory.Bag("hers", i+20_000_000, worker+20_000_000)) {
					err = fmt.Errorf("%d: %x", i, out)
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	// An error is about the cell, and the next one is read.
	_, err := splice(t, codecs, format, []byte{0xff})
	if _, is := errors.AsType[*CodecError](err); is || err == nil || !strings.Contains(err.Error(), `the codec says "a number is cut"`) {
		t.Error(err)
	}
	if out, err := splice(t, codecs, format, inventory.Bag("", 1)); err != nil || len(out) == 0 {
		t.Error(err)
	}
	if out, err := splice(t, codecs, format, bytes.Repeat(inventory.Bag("", 1), 20_000)); err != nil || len(out) < 200_000 {
		t.Error(len(out), err)
	}
	process := codecs[format].(*command).process
	stop()
	if !process.cmd.ProcessState.Success() {
		t.Error(process.cmd.ProcessState)
	}
	if _, err := splice(t, codecs, format, inventory.Bag("", 1)); err == nil {
		t.Error("it answers after it was stopped")
	}
	started, err := os.ReadFile(notes)
	if lines := strings.Count(string(started), "\n"); err != nil || lines != 1 || strings.Contains(string(started), "hunter2") {
		t.Errorf("%q %v", started, err)
	}
}

// A command that cannot work says why, for good, and leaves no process behind.
func TestCommandThatFails(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("codec"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		format string
		want   []string
	}{
		"hang":             {"", []string{"it did not answer within 200ms"}},
		"child":            {"", []string{"it did not answer within 200ms"}},
		"die":              {"", []string{"it ended", "exit status 3", `... "`, `xx\nno such \x1b[31mtable of items"`}},
		"garbage":          {"", []string{`it answered "ready."`}},
		"older":            {"", []string{"want the n of the request, 2"}},
		"extra":            {"", []string{"want the n of the request, 2"}},
		"endless":          {"", []string{"bytes without the end of a line", `0123`, " more bytes"}},
		"is missing":       {"exec ./no-such-codec items", []string{"cannot be started", "no-such-codec"}},
		"is not in PATH":   {"exec no-such-codec", []string{"cannot be started", "PATH"}},
		"is no executable": {"exec '" + plain + "'", []string{"cannot be started", "permission denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			format, notes := c.format, ""
			timeout := Timeout
			if format == "" {
				format, notes = bags(t, name)
			}
			if name == "hang" || name == "child" {
				timeout = 200 * time.Millisecond
			}
			codecs, stop := commands(t.Context(), []string{format}, timeout)
			defer stop()
			for range 2 { // it is not started again
				_, err := splice(t, codecs, format, inventory.Bag("", 1, 2))
				if _, is := errors.AsType[*CodecError](err); !is || !strings.HasPrefix(err.Error(), fmt.Sprintf("codec %q: ", format)) {
					t.Fatal(err)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %q", err, want)
					}
				}
				if len(err.Error()) > 1500 || strings.ContainsAny(err.Error(), "\n\x1b") {
					t.Errorf("%d bytes: %q", len(err.Error()), err)
				}
			}
			if p := codecs[format].(*command).process; p != nil && p.cmd.ProcessState == nil {
				t.Error("it still runs")
			}
			if started, err := os.ReadFile(notes); notes != "" && timeout == Timeout && (err != nil || strings.Count(string(started), "\n") != 1) {
				t.Errorf("%q %v", started, err)
			}
		})
	}
}

// The command ends with the work, says so, and leaves no children.
func TestCommandIsKilledWithTheContext(t *testing.T) {
	t.Parallel()
	format, notes := bags(t, "child")
	child := make(chan int, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	codecs, stop := Commands(ctx, []string{format})
	defer stop()
	go func() {
		for { // it never answers
			b, _ := os.ReadFile(notes)
			_, pid, _ := strings.Cut(string(b), "child ")
			if pid, _, whole := strings.Cut(pid, "\n"); whole {
				n, _ := strconv.Atoi(pid)
				child <- n
				cancel(errors.New("Ctrl-C"))
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := splice(t, codecs, format, inventory.Bag("", 1)); err == nil || !strings.Contains(err.Error(), "stopped when the work stopped") {
		t.Error(err)
	}
	pid := <-child
	deadline := time.Now().Add(time.Minute)
	for runtime.GOOS == "linux" { // until it is gone, or waits for its parent to see that
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(b), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
			t.Fatal("its child lives on")
		}
		time.Sleep(time.Millisecond)
	}
}

// Every line that is no answer is told from one that is.
func TestLines(t *testing.T) {
	ask, put := request{N: 3, Cell: []byte("x")}, request{N: 3, Cell: []byte("x"), Keys: []string{"1"}}
	for _, c := range []struct {
		line string
		to   request
		ok   bool
	}{
		{`{"n":3,"keys":["1","-5","18446744073709551615"]}`, ask, true}, {`{"n":3,"keys":[]}`, ask, true}, {`{"n":3,"cell":"eA=="}`, put, true}, {`{"n":3,"error":"no"}`, put, true},
		{`{"n":3}`, ask, false}, {`{"keys":[]}`, ask, false}, {`{"n":2,"keys":[]}`, ask, false}, {`{"n":3,"keys":null}`, ask, false}, {`{"n":3,"keys":[1]}`, ask, false},
		{`{"n":3,"keys":["01"]}`, ask, false}, {`{"n":3,"keys":["18446744073709551616"]}`, ask, false}, {`{"n":3,"keys":["1"]} {}`, ask, false}, {`{"n":3,"keys":["1"],"note":1}`, ask, false},
		{`{"n":3,"cell":"eA=="}`, ask, false}, {`{"n":3,"keys":["1"]}`, put, false}, {`{"n":3,"cell":"?"}`, put, false}, {`{"n":3,"cell":"eA==","keys":[]}`, put, false}, {`{"n":3,"cell":"eA==","error":""}`, put, false}, {``, ask, false},
	} {
		a, nonsense := read([]byte(c.line), c.to)
		if (nonsense == "") != c.ok {
			t.Errorf("%s: %+v %q", c.line, a, nonsense)
		}
	}
	if a, _ := read([]byte(`{"n":3,"keys":["1","-5","18446744073709551615"]}`), ask); fmt.Sprint(a.keys) != "[1 -5 18446744073709551615]" {
		t.Error(a.keys)
	}
}
