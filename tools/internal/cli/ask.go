package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// YesFlag is -yes, which [Confirm] looks at.
func YesFlag() cli.Flag { return &cli.BoolFlag{Name: "yes", Local: true} }

// Confirm asks whether to do what was said before. Any other answer than yes, or an interrupt, is an
// error that says that nothing was changed. Without a person there, or with -yes, it
// asks nothing: a person is there if both the standard input and the log are terminals.
func Confirm(ctx context.Context, cmd *cli.Command, question string) error {
	log, in := LogOf(cmd), cmd.Root().Reader
	if cmd.Bool("yes") || log.json != nil || !isTerminal(log.w) || !isTerminal(in) {
		return nil
	}
	return ask(ctx, log, in, question)
}

func ask(ctx context.Context, log *Log, in io.Reader, question string) error {
	log.Print(question + " Type yes to continue: ")
	answer := make(chan string, 1)
	go func() { // ends with the process, if nobody answers
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		log.Print("\n")
		return errors.New("nothing was changed")
	case line := <-answer:
		if strings.TrimSpace(line) != "yes" {
			return errors.New("not confirmed: nothing was changed")
		}
		return nil
	}
}
