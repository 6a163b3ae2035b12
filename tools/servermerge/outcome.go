package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// documentVersion is the version of the JSON form of [document].
const documentVersion = 1

// document is what apply, status, verify and undo print with -json. The help on
// JSON describes it.
type document struct {
	Version  int                `json:"version"`
	Command  string             `json:"command"`
	Plan     string             `json:"plan"`
	Outcome  outcome            `json:"outcome"`
	Reason   string             `json:"reason,omitempty"`
	Refusals []transfer.Refusal `json:"refusals,omitempty"`
	Applied  *applied           `json:"applied,omitempty"`
	Status   *transfer.Status   `json:"status,omitempty"`
	Proof    *transfer.Proof    `json:"proof,omitempty"`
	Undone   *transfer.Undone   `json:"undone,omitempty"`
}

// outcome is how a command ended that came to an end with a result.
type outcome string

const (
	done        outcome = "done"
	refused     outcome = "refused" // before the first write
	changed     outcome = "changed" // a database is not what was planned
	stopped     outcome = "stopped"
	differs     outcome = "differs"      // verify: FAIL
	notVerified outcome = "not verified" // verify: NOT VERIFIED
)

func (o outcome) code() cli.Code {
	switch o {
	case done:
		return cli.OK
	case refused, changed, differs:
		return cli.Conflicts
	case stopped:
		return cli.Stopped
	default:
		return cli.NotVerified
	}
}

func (j *job) document(command string, o outcome) *document {
	return &document{Version: documentVersion, Command: command, Plan: j.plan.ID, Outcome: o}
}

// print prints a document, as JSON or as the text that is meant for people, and
// returns how the command ends.
func (d *document) print(out io.Writer, asJSON bool, text string) error {
	var err error
	if asJSON {
		err = writeJSON(out, d)
	} else {
		_, err = io.WriteString(out, text)
	}
	if err == nil && d.Outcome != done {
		err = d.Outcome.code()
	}
	return err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// failed ends a command that writes and did not come to its end. What is a
// result is printed; anything else is an error.
func (j *job) failed(ctx context.Context, err error, d *document, m *htmlreport.Merge) error {
	refusal, isRefused := errors.AsType[*transfer.RefusedError](err)
	stop, isStopped := errors.AsType[*transfer.StoppedError](err)
	moved, isChanged := errors.AsType[*transfer.ChangedError](err)
	switch {
	case isRefused:
		d.Outcome, d.Refusals = refused, refusal.Refusals
		m.Outcome, m.Sentence = "REFUSED", "nothing was changed now"
		var b strings.Builder
		writeRefusals(&b, refusal.Refusals)
		return j.conclude(ctx, d, m, b.String())
	case isChanged:
		d.Outcome, d.Reason = changed, plainly(moved).Error()
		m.Outcome, m.Sentence = "CHANGED", printable.Text(d.Reason)
		return j.conclude(ctx, d, m, "")
	case isStopped:
		d.Outcome, d.Reason = stopped, "stopped while "+stop.Doing
		if ctx.Err() == nil {
			d.Reason += ": " + stop.Cause.Error()
		}
		if j.json {
			if err := writeJSON(j.out, d); err != nil {
				return err
			}
		}
		m.Outcome, m.Sentence = "STOPPED", printable.Text(d.Reason)
		goOn := htmlreport.Step{Text: "Nothing is lost. To go on:", Commands: []string{j.command(m.Command)}}
		m.Next = []htmlreport.Step{goOn}
		said := m.Sentence
		if err := j.writePage(ctx, d, m); err != nil {
			said += "; and " + err.Error()
		}
		return cli.WithHint(cli.WithCode(errors.New(said), cli.Stopped), goOn.Text+" "+goOn.Commands[0])
	}
	return cli.WithHint(plainly(err), "What was done until then is kept; how far it is: "+j.command("status"))
}

// unread ends a command that only reads and could not.
func unread(ctx context.Context, err error, without string) error {
	if ctx.Err() != nil {
		return errors.New(without)
	}
	if stop, ok := errors.AsType[*transfer.StoppedError](err); ok { // there is nothing to go on with
		err = fmt.Errorf("%s: %w", stop.Doing, stop.Cause)
	}
	hint := "There is " + without + "."
	if errors.Is(err, merge.ErrOptions) {
		hint = "What is declared comes from [check] and [merge] in the configuration, or from the flags."
	}
	return cli.WithHint(plainly(err), hint)
}

// plainly leaves out the name of the package, which the operator does not know.
func plainly(err error) error { return &plainError{err} }

type plainError struct{ error }

func (e *plainError) Error() string { return strings.TrimPrefix(e.error.Error(), "transfer: ") }
func (e *plainError) Unwrap() error { return e.error }

// mostRefusals is how many reasons are shown as text.
const mostRefusals = 40

func writeRefusals(b *strings.Builder, all []transfer.Refusal) {
	for i, r := range all {
		if i == mostRefusals {
			fmt.Fprintf(b, "  and %s more: -json has them all\n", printable.Number(int64(len(all)-i)))
			return
		}
		fmt.Fprintf(b, "  %s\n", printable.Text(r.String()))
	}
}
