// Package cli is what the command-line tools have in common: the exit codes,
// how errors are printed, how help is asked for, and how an interrupt ends a
// run. The command line itself is parsed by urfave/cli.
//
// A tool is a function that touches nothing but its parameters, and a main of
// one line:
//
//	func main() { cli.Main(run) }
//
//	func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
//		return cli.Run(ctx, command(env), args, stdout, stderr)
//	}
//
// where command returns the *cli.Command of urfave/cli, whose Actions write
// to cmd.Root().Writer and return an error, or a [Code] to end with.
//
// The rules of the interface:
//
//   - The result goes to stdout, everything else to stderr.
//   - Flags are long, with one dash or two, before or after the arguments.
//   - An error is one line that starts with the program's name. A second line
//     says what to do about it.
//   - Help is written by hand, in the Description of each command, so that it
//     reads well and has examples. [CheckHelp] finds what it forgot.
//   - The exit code is one of [Code]. What prints a result does not choose it.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"mergesafe/internal/garbage"
	"mergesafe/internal/nearest"
)

// Env looks a variable of the environment up, as os.LookupEnv does.
type Env func(name string) (value string, ok bool)

// Main runs a tool with the process's own surroundings, and exits with its
// code. SIGINT and SIGTERM cancel the context; a second one ends the process
// at once.
func Main(run func(ctx context.Context, args []string, env Env, stdout, stderr io.Writer) Code) {
	MainAllowing(garbage.Allowance, run)
}

// MainAllowing is Main for a tool that may have so many bytes of garbage; see
// [garbage.Allow].
func MainAllowing(bytes uint64, run func(ctx context.Context, args []string, env Env, stdout, stderr io.Writer) Code) {
	garbage.AllowBytes(bytes)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(int(run(ctx, os.Args, os.LookupEnv, os.Stdout, os.Stderr)))
}

// Run parses args, of which the first is the program's name, runs the command
// that they select, prints its error if there is one, and returns the exit
// code. Output that cannot be written is an error too.
func Run(ctx context.Context, root *cli.Command, args []string, stdout, stderr io.Writer) Code {
	out := bufio.NewWriter(stdout)
	prepare(root)
	root.Writer, root.ErrWriter = out, stderr

	selected := selection(root, args)
	var err error
	if topic, asked := helpTopic(args); asked {
		fmt.Fprintln(out, strings.TrimSpace(cmp.Or(topicsOf(selected)[topic], selected.Description)))
	} else {
		err = root.Run(ctx, args)
	}
	if flushErr := out.Flush(); flushErr != nil {
		err = fmt.Errorf("write the output: %w", flushErr)
	}
	report(ctx, stderr, selected, err)
	return code(err)
}

// prepare makes a command and those below it follow the rules of this package.
func prepare(cmd *cli.Command) {
	cmd.HideHelp = true // see helpTopic
	cmd.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	cmd.OnUsageError = func(_ context.Context, cmd *cli.Command, err error, _ bool) error {
		return usage(cmd, err)
	}
	if len(cmd.Commands) > 0 && cmd.Action == nil {
		cmd.Action = noCommand
	}
	for _, sub := range cmd.Commands {
		prepare(sub)
	}
}

// helpTopic reports whether help is asked for anywhere in the command line, and
// returns the argument behind that, "" if there is none. The library would take
// an argument beside -h for the name of a command, and refuse a line that has
// another mistake in it: just when help is needed.
func helpTopic(args []string) (topic string, asked bool) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	for i, arg := range args[min(1, len(args)):] {
		if arg == "-h" || arg == "-help" || arg == "--help" || arg == "help" && i == 0 {
			return strings.Join(args[min(i+2, len(args)):min(i+3, len(args))], ""), true
		}
	}
	return "", false
}

// topicsKey is where the topics of a command are kept.
const topicsKey = "topics of help"

// Topics gives a command further texts of help, by name: "-h NAME" prints one
// of them.
func Topics(cmd *cli.Command, texts map[string]string) {
	cmd.Metadata = map[string]any{topicsKey: texts}
}

func topicsOf(cmd *cli.Command) map[string]string {
	texts, _ := cmd.Metadata[topicsKey].(map[string]string)
	return texts
}

// selection returns the command that the arguments select, as far as they do.
func selection(root *cli.Command, args []string) *cli.Command {
	cmd := root
	for _, arg := range args[min(1, len(args)):] {
		if sub := cmd.Command(arg); sub != nil {
			cmd = sub
		}
	}
	return cmd
}

// noCommand is the action of a command that needs one below it.
func noCommand(_ context.Context, cmd *cli.Command) error {
	var names []string
	for _, sub := range cmd.Commands {
		names = append(names, sub.Name)
	}
	given := cmd.Args().First()
	want := "want " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	switch {
	case given == "":
		return Usage("no command given: %s", want)
	case strings.ContainsAny(given, ":@/"): // a DSN, perhaps with its password
		return Usage("no command given before the arguments: %s", want)
	default:
		return Usage("unknown command %q%s: %s", given, nearest.Hint(given, names), want)
	}
}

// usage puts an error of the library into the words of this package.
func usage(cmd *cli.Command, err error) error {
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		var known []string
		for _, flag := range cmd.Flags {
			known = append(known, flag.Names()...)
		}
		return Usage("unknown flag %q%s", "-"+name, nearest.Hint(name, known))
	}
	// What remains of "invalid value ...: strconv.ParseInt: parsing ...: invalid syntax" is clear by itself.
	if before, _, found := strings.Cut(message, ": strconv."); found {
		message = before + ": want a number in range"
	}
	return Usage("%s", strings.ToLower(message[:1])+message[1:])
}

func report(ctx context.Context, stderr io.Writer, cmd *cli.Command, err error) {
	if _, ok := err.(Code); ok || err == nil {
		return
	}
	prefix := cmd.Root().Name + ": "
	if ctx.Err() != nil {
		prefix += "interrupted"
		if errors.Is(err, ctx.Err()) { // no more to say
			fmt.Fprintln(stderr, prefix)
			return
		}
		prefix += ": "
	}
	// A package may have the name of the program.
	fmt.Fprintln(stderr, prefix+strings.TrimPrefix(err.Error(), prefix))
	if e, ok := errors.AsType[*hintError](err); ok {
		fmt.Fprintln(stderr, e.hint)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(stderr, "For help: %s -h\n", cmd.FullName())
	}
}

// CheckHelp returns an error for each command at or below cmd whose
// Description leaves out one of its flags, commands or topics, or shows no
// example.
// It is for the tests of the tools.
func CheckHelp(cmd *cli.Command) error {
	var errs []error
	need := func(text string) {
		if !strings.Contains(cmd.Description, text) {
			errs = append(errs, fmt.Errorf("the help of %q does not mention %q", cmd.Name, text))
		}
	}
	need("Example")
	for _, flag := range cmd.Flags {
		for _, name := range flag.Names() {
			need("-" + name)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topicsOf(cmd))) {
		need("-h " + topic)
	}
	for _, sub := range cmd.Commands {
		need("  " + sub.Name + " ")
		errs = append(errs, CheckHelp(sub))
	}
	return errors.Join(errs...)
}
