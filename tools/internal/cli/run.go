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
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"mergesafe/internal/columns"
	"mergesafe/internal/garbage"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
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
	garbage.Allow(bytes)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(int(run(ctx, os.Args, os.LookupEnv, os.Stdout, os.Stderr)))
}

// Run parses args, of which the first is the program's name, runs the command
// that they select, prints its error if there is one, and returns the exit
// code. Output that cannot be written is an error too.
func Run(ctx context.Context, root *cli.Command, args []string, stdout, stderr io.Writer) Code {
	out := bufio.NewWriter(stdout)
	root.Flags = append(root.Flags, choiceFlag("color", "want auto, always or never", "auto", "always", "never"),
		choiceFlag("log", "want text or json", "text", "json"))
	prepare(root)
	root.Writer, root.ErrWriter = out, stderr
	if info, _ := debug.ReadBuildInfo(); root.Version == "" {
		root.Version = versionText(root.Name, info)
	}
	log := NewLog(stderr, root.Name, logsJSON(args))
	log.mask = newMask(args[min(1, len(args)):], flagsOf(root))
	ours := ownOf(root)
	log.each = cmp.Or(ours.waitingEvery, LineEvery)
	ours.log, ours.args, ours.stdout = log, args, stdout

	selected := selection(root, args)
	text, err := about(root, selected, args)
	if text != "" {
		io.WriteString(out, text)
	} else if err == nil {
		err = root.Run(ctx, args)
	}
	if flushErr := out.Flush(); flushErr != nil {
		err = fmt.Errorf("write the output: %w", flushErr)
	}
	report(ctx, log, selected, err)
	return code(err)
}

// about is what the arguments ask for that is about the program itself; "" if they do not.
func about(root, selected *cli.Command, args []string) (text string, err error) {
	args = args[min(1, len(args)):]
	if len(args) > 0 && args[0] == "-complete" { // of the scripts of -completion
		if text := completions(root, args[1:]); text != "" {
			return text, nil
		}
		return "", OK
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if topic, asked := helpTopic(args); asked {
		if text, ok := ownOf(selected).topics[topic]; ok {
			return strings.TrimSpace(text) + "\n", nil
		}
		return helpOf(root, selected) + "\n", nil
	}
	for i, arg := range args {
		switch flagOf(arg) {
		case "version":
			return root.Version + "\n", nil
		case "completion":
			return completionScript(root.Name, strings.Join(args[i+1:min(i+2, len(args))], ""))
		}
	}
	return "", nil
}

// prepare makes a command and those below it follow the rules of this package.
func prepare(cmd *cli.Command) {
	cmd.HideHelp, cmd.HideVersion = true, true // see about
	cmd.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	cmd.OnUsageError = func(_ context.Context, cmd *cli.Command, err error, _ bool) error {
		return usage(cmd, err)
	}
	cmd.Before = func(ctx context.Context, cmd *cli.Command) (context.Context, error) {
		if patience := cmd.Duration("patience"); patience > 0 { // each lock of SQLite is waited for no longer than that
			ctx = sqldb.Waiting(ctx, patience)
		}
		return ctx, nil
	}
	if len(cmd.Commands) > 0 && cmd.Action == nil {
		cmd.Action = func(_ context.Context, cmd *cli.Command) error { return noCommand(cmd, cmd.Args().First()) }
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
	for i, arg := range args {
		if arg == "-h" || arg == "-help" || arg == "--help" || arg == "help" && i == 0 {
			return strings.Join(args[i+1:min(i+2, len(args))], ""), true
		}
	}
	return "", false
}

// logsJSON reports whether -log json is asked for: also the error of a line that cannot be
// parsed is JSON then.
func logsJSON(args []string) (is bool) {
	for i, arg := range args {
		switch name, value, given := strings.Cut(flagOf(arg), "="); {
		case arg == "--":
			return is
		case name == "log" && given:
			is = value == "json"
		case name == "log":
			is = i+1 < len(args) && args[i+1] == "json"
		}
	}
	return is
}

// flagOf is the flag that an argument is, without dashes; "" if it is none.
func flagOf(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
}

// flagsOf are the names of all flags of a command and of those below it.
func flagsOf(cmd *cli.Command) []string {
	names := []string{"version", "completion", "complete", "help", "h"} // see about
	for _, f := range cmd.Flags {
		names = append(names, f.Names()...)
	}
	for _, sub := range cmd.Commands {
		names = append(names, flagsOf(sub)...)
	}
	return names
}

// own is what this package keeps with a command; all but topics with the tool itself.
type own struct {
	topics       map[string]string
	arguments    func() []string
	waitingEvery time.Duration // 0 for LineEvery

	// of a run
	log    *Log
	args   []string
	stdout io.Writer
}

func ownOf(cmd *cli.Command) *own {
	const key = "tools/internal/cli"
	ours, ok := cmd.Metadata[key].(*own)
	if !ok {
		ours = new(own)
		cmd.Metadata = map[string]any{key: ours}
	}
	return ours
}

// LogOf is the log of a run.
func LogOf(cmd *cli.Command) *Log { return ownOf(cmd.Root()).log }

// Topics gives a command further texts of help, by name: "-h NAME" prints one
// of them.
func Topics(cmd *cli.Command, texts map[string]string) { ownOf(cmd).topics = texts }

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

// noCommand is the error of a command that needs one below it: it names them.
func noCommand(cmd *cli.Command, given string) error {
	names := namesOf(cmd.Commands)
	want := "want " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	switch {
	case given == "":
		return Usage("no command given: %s", want)
	case strings.ContainsAny(given, ":@/"): // a DSN, perhaps with its password
		return Usage("no command given before the arguments: %s", want)
	default:
		return Usage("unknown command %q%s: %s", given, naming.Hint(given, names), want)
	}
}

func namesOf(commands []*cli.Command) (names []string) {
	return slice.Map(commands, func(c *cli.Command) string { return c.Name })
}

// misplaced is the error of a flag that a command does not know and one below it does: the name of
// that one is misspelt, or comes behind the flag; nil if it is another mistake.
func misplaced(cmd *cli.Command, flag string) error {
	args := ownOf(cmd.Root()).args
	at := cmd.Root()
	for _, arg := range args[min(1, len(args)):] {
		if sub := at.Command(arg); sub != nil {
			at = sub
		} else if at == cmd && !strings.HasPrefix(arg, "-") && naming.Hint(arg, namesOf(cmd.Commands)) != "" {
			return noCommand(cmd, arg)
		}
	}
	for _, sub := range cmd.Commands {
		if slices.ContainsFunc(sub.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) }) {
			return Usage("the flag %q belongs to a command and goes after it: %s %s -%s", "-"+flag, cmd.FullName(), sub.Name, flag)
		}
	}
	return nil
}

// bareNumber matches what is wrong with a time without a unit, and its number.
var bareNumber = regexp.MustCompile(`^missing unit in duration "?([0-9]+)"?$`)

// usage puts an error of the library into the words of this package.
func usage(cmd *cli.Command, err error) error {
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		if err := misplaced(cmd, name); err != nil {
			return err
		}
		var known []string
		for _, flag := range cmd.Flags {
			known = append(known, flag.Names()...)
		}
		hint := naming.Hint(name, known)
		if hint == "" {
			name = maskedFlag(name)
		}
		return Usage("unknown flag %q%s", "-"+name, hint)
	}
	// What remains of "invalid value ...: strconv.ParseInt: parsing ...: invalid syntax" is clear by itself.
	if before, why, found := strings.Cut(message, ": strconv."); found {
		message = before + ": want a whole number, such as 40"
		if strings.HasSuffix(why, "out of range") {
			message = before + ": want a smaller number"
		}
	}
	if before, why, found := strings.Cut(message, ": time: "); found {
		message = before + ": want a time, such as 250ms or 2m"
		if m := bareNumber.FindStringSubmatch(why); m != nil {
			message = before + ": want a time with its unit, such as " + m[1] + "ms, " + m[1] + "s or " + m[1] + "m"
		}
	}
	return Usage("%s", strings.ToLower(message[:1])+message[1:])
}

func report(ctx context.Context, log *Log, cmd *cli.Command, err error) {
	if _, ok := err.(Code); ok || err == nil {
		return
	}
	prefix := cmd.Root().Name + ": "
	if ctx.Err() != nil {
		prefix += "interrupted"
		if errors.Is(err, ctx.Err()) { // no more to say
			log.fail(prefix, nil, code(err))
			return
		}
		prefix += ": "
	}
	var hints []string
	if e, ok := errors.AsType[*hintError](err); ok && e.hint != "" {
		hints = append(hints, e.hint)
	}
	if hint := hintOf(err); hint != "" {
		hints = append(hints, hint)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		hints = append(hints, "For help: "+cmd.FullName()+" -h")
	}
	// A package may have the name of the program.
	log.fail(prefix+strings.TrimPrefix(err.Error(), prefix), hints, code(err))
}

var inQuotes = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// helpWidth is how wide a line of help may be.
const helpWidth = 80

// CheckHelp returns an error for each command at or below root whose Description leaves
// out one of its flags, commands or topics, or names one without an explanation; shows no
// example, or one that cannot be pasted; or has a line of more than 80 columns, here or in
// a topic. It is for the tests of the tools.
func CheckHelp(root *cli.Command) error { return checkHelp(root, root) }

func checkHelp(root, cmd *cli.Command) error {
	var errs []error
	need := func(ok bool, text string) {
		if !ok {
			errs = append(errs, fmt.Errorf("the help of %q does not mention %q", cmd.Name, text))
		}
	}
	mentions := func(text string) { need(strings.Contains(cmd.Description, text), text) }
	mentions("Example")
	for _, text := range append(slices.Collect(maps.Values(ownOf(cmd).topics)), cmd.Description) {
		for line := range strings.Lines(text) {
			if n := columns.Width(strings.TrimRight(line, "\n")); n > helpWidth {
				errs = append(errs, fmt.Errorf("a line of the help of %q has %d columns: %s", cmd.Name, n, strings.TrimSpace(line)))
			}
		}
	}
	_, examples, _ := strings.Cut(cmd.Description, "\nExample")
	examples, _, _ = strings.Cut(examples, "\n\n")
	for line := range strings.SplitSeq(examples, "\n") {
		if strings.Contains(line, "mysql:") || strings.ContainsAny(inQuotes.ReplaceAllString(line, ""), "()&;*?[<'\"") {
			errs = append(errs, fmt.Errorf("an example of %q shows a password to the machine, or is not quoted for a shell: %s",
				cmd.Name, line))
		}
	}
	for _, flag := range cmd.Flags {
		if isHidden(flag) {
			continue
		}
		for _, name := range flag.Names() {
			mentions("-" + name)
			if _, text := flagText(root, cmd, name); text == "" {
				errs = append(errs, fmt.Errorf("the help does not explain -%s of %q", name, cmd.Name))
			}
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(ownOf(cmd).topics)) {
		mentions("-h " + topic)
	}
	for _, sub := range cmd.Commands {
		need(commandText(root, cmd, sub.Name) != "", "  "+sub.Name+" ")
		errs = append(errs, checkHelp(root, sub))
	}
	return errors.Join(errs...)
}
