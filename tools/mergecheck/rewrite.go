package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/docs/schema"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rules"
)

// writeSchema prints the JSON Schema of a kind of files.
func writeSchema(kind string, out io.Writer) error {
	text, err := schema.Files.ReadFile(kind + ".json")
	if err != nil {
		return cli.Usage("-schema %s: want rules, config or campaign", printable.Text(kind))
	}
	_, err = out.Write(text)
	return err
}

// rewriteRules puts the words of today in the place of older ones of a file of rules, and writes the
// result to the file of -o, or prints it.
func rewriteRules(cmd *cliv3.Command, env cli.Env, out io.Writer) error {
	other := func(flag string) bool { return !slices.Contains([]string{"rewrite", "o", "rules", "config"}, flag) }
	if cmd.NArg() > 0 || slices.ContainsFunc(cmd.LocalFlagNames(), other) {
		return cli.Usage("-rewrite FILE reads a file of rules and no database: want nothing else but -o NEWFILE")
	}
	file, name := cmd.String("rewrite"), cmd.String("o")
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-rewrite: %w", err)
	}
	beside, err := databases.NewConfig(cmd.String("config"), env).Rules(cmd)
	if err != nil {
		return err
	}
	w, err := rules.Rewrite(file, string(text), beside.Check.Accounts)
	if err != nil {
		return err
	}
	log := cli.LogOf(cmd)
	for _, c := range slices.Concat(w.Changes, w.Left) {
		log.Say(printable.Text(c.String()))
	}
	if name == "" {
		_, err := io.WriteString(out, w.Text)
		return err
	}
	written, err := cli.NewFirstFile("o", name)
	if errors.Is(err, fs.ErrExist) {
		return cli.Usage("-o: %s exists already, and may have been edited: want another name", name)
	} else if err != nil {
		return err
	}
	defer written.Close()
	if err := written.Write(func(to io.Writer) error { _, err := io.WriteString(to, w.Text); return err }); err != nil {
		return err
	}
	changed := printable.Count(int64(len(w.Changes)), "statement", "statements")
	fmt.Fprintf(out, "Written: %s, %s in new words. It says what %s says.\n", name, changed, file)
	return nil
}
