package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v3"

	"mergesafe/internal/sqldb"
)

// program makes a tool with a command that echoes its arguments and fails as asked.
func program(actionErr error) *cli.Command {
	cmd := &cli.Command{
		Name:        "prog",
		Version:     "prog v1",
		Description: "Help of prog.",
		Commands: []*cli.Command{{
			Name:        "echo",
			Description: "Help of echo.",
			Flags:       []cli.Flag{&cli.IntFlag{Name: "times", Value: 1}, &cli.BoolFlag{Name: "json"}, &cli.DurationFlag{Name: "wait"}},
			Action: func(_ context.Context, cmd *cli.Command) error {
				fmt.Fprintln(cmd.Root().Writer, cmd.Int("times"), cmd.Bool("json"), cmd.Args().Slice())
				return actionErr
			},
		}, {
			Name: "other",
			Commands: []*cli.Command{{Name: "below", Action: func(_ context.Context, cmd *cli.Command) error {
				fmt.Fprintln(cmd.Root().Writer, "below", cmd.Args().Slice())
				return nil
			}}},
			// A command that has commands may do something by itself.
			Action: func(_ context.Context, cmd *cli.Command) error {
				fmt.Fprintln(cmd.Root().Writer, "other", cmd.Args().Slice())
				return nil
			},
		}},
	}
	Topics(cmd, map[string]string{"files": "What prog writes."})
	return cmd
}

func TestRun(t *testing.T) {
	cause := errors.New("cause")
	type result struct {
		Code           Code
		Stdout, Stderr string
	}
	for _, tt := range []struct {
		args string
		err  error // of the action
		want result
	}{
		{"echo a b", nil, result{OK, "1 false [a b]\n", ""}},
		{"echo -times 3 -json a", nil, result{OK, "3 true [a]\n", ""}},
		{"echo --times=3 a --json", nil, result{OK, "3 true [a]\n", ""}},
		{"echo a -json b -times 2", nil, result{OK, "2 true [a b]\n", ""}},
		{"echo -- -json", nil, result{OK, "1 false [-json]\n", ""}},

		{"other a", nil, result{OK, "other [a]\n", ""}},
		{"other below a", nil, result{OK, "below [a]\n", ""}},

		{"echo", Conflicts, result{Conflicts, "1 false []\n", ""}},
		{"echo", NotVerified, result{NotVerified, "1 false []\n", ""}},
		{"echo", Incomplete, result{Incomplete, "1 false []\n", ""}},
		{"echo", cause, result{Incomplete, "1 false []\n", "prog: cause\n"}},
		{"echo", fmt.Errorf("prog: %w", cause), result{Incomplete, "1 false []\n", "prog: cause\n"}},
		{"echo", WithHint(cause, "Do this."), result{Incomplete, "1 false []\n", "prog: cause\nDo this.\n"}},
		{"echo", Usage("want more"), result{Incomplete, "1 false []\n", "prog: want more\nFor help: prog echo -h\n"}},

		{"", nil, result{Incomplete, "", "prog: no command given: want echo or other\nFor help: prog -h\n"}},
		{"ehco a", nil, result{Incomplete, "", "prog: unknown command \"ehco\" (did you mean \"echo\"?): want echo or other\nFor help: prog -h\n"}},
		{"mysql:root:secret@tcp(db)/s1", nil, result{Incomplete, "", "prog: no command given before the arguments: want echo or other\nFor help: prog -h\n"}},
		{"ehco -json a", nil, result{Incomplete, "", "prog: unknown command \"ehco\" (did you mean \"echo\"?): want echo or other\nFor help: prog -h\n"}},
		{"-json echo a", nil, result{Incomplete, "", "prog: the flag \"-json\" belongs to a command and goes after it: prog echo -json\nFor help: prog echo -h\n"}},
		{"echo -jsn", nil, result{Incomplete, "", "prog: unknown flag \"-jsn\" (did you mean \"json\"?)\nFor help: prog echo -h\n"}},
		{"echo -times many", nil, result{Incomplete, "", "prog: invalid value \"many\" for flag -times: want a whole number, such as 40\nFor help: prog echo -h\n"}},
		{"echo -times 99999999999999999999", nil, result{Incomplete, "", "prog: invalid value \"99999999999999999999\" for flag -times: want a smaller number\nFor help: prog echo -h\n"}},
		{"echo -wait 20", nil, result{Incomplete, "", "prog: invalid value \"20\" for flag -wait: want a time with its unit, such as 20ms, 20s or 20m\nFor help: prog echo -h\n"}},
		{"echo -wait x", nil, result{Incomplete, "", "prog: invalid value \"x\" for flag -wait: want a time, such as 250ms or 2m\nFor help: prog echo -h\n"}},
		{"echo -times", nil, result{Incomplete, "", "prog: flag needs an argument: -times\nFor help: prog echo -h\n"}},

		{"-version", nil, result{OK, "prog v1\n", ""}},
		{"echo -nonsense --version", nil, result{OK, "prog v1\n", ""}},
		{"echo -- -version", nil, result{OK, "1 false [-version]\n", ""}},
		{"-completion tcsh", nil, result{Incomplete, "", "prog: -completion \"tcsh\": want bash, zsh or fish\nFor help: prog -h\n"}},

		{"-h", nil, result{OK, "Help of prog.\n", ""}},
		{"help", nil, result{OK, "Help of prog.\n", ""}},
		{"help echo", nil, result{OK, "Help of echo.\n", ""}},
		{"help files", nil, result{OK, "What prog writes.\n", ""}},
		{"-h files", nil, result{OK, "What prog writes.\n", ""}},
		{"-x a -h files b", nil, result{OK, "What prog writes.\n", ""}},
		{"files -h", nil, result{OK, "Help of prog.\n", ""}},
		{"-h flies", nil, result{OK, "Help of prog.\n", ""}},
		{"-h echo files", nil, result{OK, "Help of echo.\n", ""}},
		{"echo -h", nil, result{OK, "Help of echo.\n", ""}},
		{"echo -nonsense a -help", nil, result{OK, "Help of echo.\n", ""}},
		{"--help echo", nil, result{OK, "Help of echo.\n", ""}},
		{"echo -- -h", nil, result{OK, "1 false [-h]\n", ""}},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"prog"}, strings.Fields(tt.args)...)
		code := Run(t.Context(), program(tt.err), args, &stdout, &stderr)
		got := result{code, stdout.String(), stderr.String()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("prog %s, action returns %v (-want +got):\n%s", tt.args, tt.err, diff)
		}
	}
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("read s1: %w", context.Canceled), "prog: interrupted\n"},
		{errors.New("connection closed"), "prog: interrupted: connection closed\n"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Run(ctx, program(tt.err), []string{"prog", "echo"}, &stdout, &stderr); code != Incomplete {
			t.Errorf("action returns %v: exit code %d; want %d", tt.err, code, Incomplete)
		}
		if stderr.String() != tt.want {
			t.Errorf("action returns %v: stderr %q; want %q", tt.err, &stderr, tt.want)
		}
	}
}

type brokenOutput struct{}

func (brokenOutput) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A report that nobody can read must not end with the code of one that says "safe".
func TestRunCannotWrite(t *testing.T) {
	for _, args := range [][]string{{"prog", "echo"}, {"prog", "-h"}} {
		var stderr bytes.Buffer
		if code := Run(t.Context(), program(nil), args, brokenOutput{}, &stderr); code != Incomplete {
			t.Errorf("%v: exit code %d; want %d", args, code, Incomplete)
		}
		if want := "prog: write the output: broken pipe\n"; stderr.String() != want {
			t.Errorf("%v: stderr %q; want %q", args, &stderr, want)
		}
	}
}

// An error with a code is printed, with its hint, and ends with the code. An
// interrupt is told from what it interrupted.
func TestWithCode(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := WithHint(WithCode(fmt.Errorf("copying: %w", context.Canceled), Stopped), "Run it again.")
	for _, want := range []string{"prog: copying: context canceled\nRun it again.\n", "prog: interrupted: copying: context canceled\nRun it again.\n"} {
		var stdout, stderr bytes.Buffer
		if code := Run(ctx, program(err), []string{"prog", "echo"}, &stdout, &stderr); code != Stopped || stderr.String() != want {
			t.Errorf("exit code %d, stderr %q; want %d, %q", code, &stderr, Stopped, want)
		}
		cancel()
	}
}

func TestWithHintKeepsTheChain(t *testing.T) {
	cause := errors.New("cause")
	err := WithHint(fmt.Errorf("outer: %w", cause), "Do this.")
	if !errors.Is(err, cause) || err.Error() != "outer: cause" {
		t.Errorf("got %v; want the same text and chain", err)
	}
}

func TestCheckHelp(t *testing.T) {
	command := &cli.Command{Name: "prog", Description: "Prints.\n\nCommands:\n  echo ID  print it\n\nExample: prog", Commands: []*cli.Command{{
		Name: "echo", Description: "Echoes.\n\n  -json  print JSON\n", Flags: []cli.Flag{&cli.BoolFlag{Name: "json"}, &cli.IntFlag{Name: "times"}},
	}, {
		Name: "other", Description: "Does it.\n\nIs so wide that it takes two lines of a terminal with the eighty columns that it has.\n\nExamples:\n  prog other mysql:u:p@tcp(db)/x\n  prog other '(a)' \"b c\"\n  prog other (a)",
	}}}
	Topics(command, map[string]string{"files": "..."})
	want := `the help of "prog" does not mention "-h files"` + "\n" +
		`the help of "echo" does not mention "Example"` + "\n" +
		`the help of "echo" does not mention "-times"` + "\n" +
		`the help does not explain -times of "echo"` + "\n" +
		`the help of "prog" does not mention "  other "` + "\n" +
		`a line of the help of "other" has 85 columns: Is so wide that it takes two lines of a terminal with the eighty columns that it has.` + "\n" +
		`an example of "other" shows a password to the machine, or is not quoted for a shell:   prog other mysql:u:p@tcp(db)/x` + "\n" +
		`an example of "other" shows a password to the machine, or is not quoted for a shell:   prog other (a)`
	if diff := cmp.Diff(want, fmt.Sprint(CheckHelp(command))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A command with -patience waits for no lock of SQLite longer than that.
func TestPatience(t *testing.T) {
	for given, want := range map[string]time.Duration{"-patience 2s": 2 * time.Second, "-patience 1m": sqldb.BusyTimeout, "-patience 0s": sqldb.BusyTimeout, "": sqldb.BusyTimeout} {
		busy := time.Duration(0)
		cmd := &cli.Command{Name: "prog", Commands: []*cli.Command{{
			Name: "work", Flags: []cli.Flag{&cli.DurationFlag{Name: "patience", Value: time.Minute}},
			Action: func(ctx context.Context, _ *cli.Command) error { busy = sqldb.BusyFor(ctx); return nil },
		}}}
		var stdout, stderr bytes.Buffer
		if code := Run(t.Context(), cmd, strings.Fields("prog work "+given), &stdout, &stderr); code != OK || busy != want {
			t.Errorf("%q: waits for %s, want %s; %d, %s", given, busy, want, code, stderr.String())
		}
	}
}
