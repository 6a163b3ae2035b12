package config

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/strict"
)

const wantHeader = `want a first line such as "name,dsn,language,zone": a name, a dsn or dsn_env, and labels`

// LoadSources reads the file of worlds at path. See [parseSources].
func LoadSources(path string) ([]Source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseSources(path, string(text))
}

// parseSources reads a file of worlds, a line of CSV for each: its name, its dsn or in dsn_env
// the environment variable that has it, and labels, in the order that the first line gives.
// Lines that begin with # are comments. The name of the file is for messages. Problems are of
// type [*strict.Error], joined if there are several.
func parseSources(file, text string) (all []Source, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comment, r.TrimLeadingSpace = '#', true
	at := func(line int, key, format string, args ...any) error {
		return &strict.Error{File: file, Line: line, Key: key, Problem: fmt.Sprintf(format, args...)}
	}
	header, err := r.Read()
	if err != nil {
		return nil, at(0, "", "%s: %s", csvProblem(err), wantHeader)
	}
	columns, problem := sourceColumns(header)
	if problem != "" {
		line, _ := r.FieldPos(0)
		return nil, at(line, "", "%s", problem)
	}
	lines := make(map[string]int)
	var errs []error
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			errs = append(errs, at(bad.StartLine, "", "%s", csvProblem(err)))
			if errors.Is(err, csv.ErrFieldCount) {
				continue
			}
			break // what follows is no line of its own
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		source := Source{Database: Database{dsn: held{at: strict.Error{File: file, Line: line}}}}
		before := len(errs)
		for i, column := range columns {
			if problem := source.set(column, strings.TrimSpace(record[i])); problem != "" {
				errs = append(errs, at(line, column, "%s", problem))
			}
		}
		dsn := &source.Database.dsn
		if dsn.at.Key = "dsn"; dsn.env != "" {
			dsn.at.Key = "dsn_env"
		}
		switch first, taken := lines[source.Name]; {
		case len(errs) > before:
		case dsn.env != "" && !dsn.secret.IsZero():
			errs = append(errs, at(line, "dsn_env", "and dsn are both there: want one of them"))
		case dsn.env == "" && dsn.secret.IsZero():
			errs = append(errs, at(line, "dsn", "is missing: %s", wantDSN))
		case taken:
			errs = append(errs, at(line, "name", "%q is the name of the world in line %d already", source.Name, first))
		}
		lines[source.Name] = line
		all = append(all, source)
	}
	if len(errs) == 0 && len(all) == 0 {
		return nil, at(0, "", "has no worlds: want a line for each below the first")
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// sourceColumns checks the names of the columns. It does not quote what may be a DSN.
func sourceColumns(header []string) (columns []string, problem string) {
	for _, name := range header {
		name = strings.TrimSpace(name)
		if problem := labelName(name); problem != "" {
			return nil, "has a column whose name " + problem + "; " + wantHeader
		}
		if slices.Contains(columns, name) {
			return nil, fmt.Sprintf("has two columns %q: want each once", name)
		}
		columns = append(columns, name)
	}
	missing := ""
	switch {
	case !slices.Contains(columns, "name"):
		missing = "name"
	case !slices.Contains(columns, "dsn") && !slices.Contains(columns, "dsn_env"):
		missing = "dsn"
	default:
		return columns, ""
	}
	return nil, fmt.Sprintf("has no column %s%s: %s", missing, naming.Hint(missing, columns), wantHeader)
}

// set takes the value of a column, and returns what is wrong with it.
func (s *Source) set(column, value string) (problem string) {
	switch dsn := &s.Database.dsn; {
	case column == "name":
		if problem = sourceName(value); problem == "" {
			s.Name = value
		}
	case value == "":
	case column == "dsn":
		if !isDSN(value) {
			return "is not a DSN: " + wantDSN
		}
		dsn.secret = NewSecret(value)
	case column == "dsn_env":
		if problem = envName(value); problem == "" {
			dsn.env = value
		}
	default:
		if problem = labelValue(value); problem == "" {
			if s.Labels == nil {
				s.Labels = make(map[string]string)
			}
			s.Labels[column] = value
		}
	}
	return problem
}

// csvProblem puts an error of package csv into words.
func csvProblem(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "is empty"
	case errors.Is(err, csv.ErrFieldCount):
		return "has more or fewer values than the first line has columns: want a comma between values, and quotes around one with a comma in it"
	case errors.Is(err, csv.ErrBareQuote):
		return `has a quote inside of a value: want quotes around all of it, and "" for one`
	case errors.Is(err, csv.ErrQuote):
		return "has a quote that is not closed, or is not at the end of its value"
	default:
		return "is not CSV"
	}
}
