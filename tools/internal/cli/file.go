package cli

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mergesafe/internal/printable"
)

// File is a file for a result. It is tried before the work, which may take hours, and made after it, so that an older
// one is there until there is a newer one.
type File struct {
	name string      // empty if there is none to be written
	over func() bool // whether it may take the place of the file that is there
}

// Input is a file that a command reads, so that it must not write it.
type Input struct {
	What string // in words, such as "the plan"
	Name string // empty for none
}

// NewFile makes the file that a flag names, to take the place of an older one,
// which must be none of the inputs, and no database of SQLite: that is no result of a command,
// and may be a world that the command does not know. Without a name there is nothing to be
// written, and all methods do nothing.
func NewFile(flag, name string, inputs ...Input) (*File, error) {
	return NewFirstFile(flag, name, func() bool { return true }, inputs...)
}

// NewFirstFile is NewFile, but never takes the place of an older file, unless over says so of it: that is
// an error like [fs.ErrExist].
func NewFirstFile(flag, name string, over func() bool, inputs ...Input) (*File, error) {
	if name == "" {
		return new(File), nil
	}
	if shown := MaskedWord(name); shown != name {
		return nil, Usage("-%s %s: want the name of a file, not a DSN, which may have a password in it", flag, shown)
	}
	if err := writable(flag, name, inputs); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(name); err == nil && !over() {
		return nil, fmt.Errorf("-%s: %s: %w: want another name", flag, name, fs.ErrExist)
	}
	part, err := newPart(name)
	if e, ok := errors.AsType[*fs.PathError](err); ok { // it names the temporary file
		if _, folder := os.Stat(filepath.Dir(name)); errors.Is(folder, fs.ErrNotExist) {
			return nil, WithHint(fmt.Errorf("-%s: %s: there is no folder %s", flag, name, filepath.Dir(name)),
				"Make it (mkdir -p "+printable.Quoted(filepath.Dir(name))+"), or choose a file in another one.")
		}
		err = fmt.Errorf("%s: %w", name, e.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	part.Close()
	os.Remove(part.Name()) // one that lay there while the work goes on would be left by a kill
	return &File{name, over}, nil
}

// writable refuses what a command must not write: one of its inputs, which may not be there yet, a database, and what is no file.
func writable(flag, name string, inputs []Input) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("-%s: %w", flag, err)
	}
	info, err := os.Stat(name)
	for _, in := range inputs {
		if in.Name == "" {
			continue
		}
		same := false
		if other, unread := os.Stat(in.Name); err == nil && unread == nil {
			same = os.SameFile(info, other)
		}
		if at, unknown := filepath.Abs(in.Name); same || unknown == nil && at == path {
			return Usage("-%s: %s is %s: want another file", flag, name, in.What)
		}
	}
	switch {
	case err != nil: // it is not there, or making it tells why
		return nil
	case info.IsDir():
		return fmt.Errorf("-%s: %s is a folder: want a file", flag, name)
	case !info.Mode().IsRegular(): // whoever opens a pipe waits
		return Usage("-%s: %s is a device or a pipe: want a file", flag, name)
	case isDatabase(name):
		return Usage("-%s: %s is a database: want another file", flag, name)
	}
	return nil
}

// isDatabase reports whether a file begins as a database of SQLite does (https://sqlite.org/fileformat2.html).
func isDatabase(name string) bool {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// newPart makes the temporary file of one process. One that a killed process left stays: another process may
// be writing it.
func newPart(name string) (*os.File, error) {
	return os.OpenFile(name+"."+rand.Text()[:8]+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// Write lets write write the file, makes sure that it is on disk, and gives it
// its name.
func (f *File) Write(write func(io.Writer) error) error {
	if f.name == "" {
		return nil
	}
	part, err := newPart(f.name)
	if err == nil {
		defer os.Remove(part.Name()) // unless it has its name
		if err = write(part); err == nil {
			err = part.Sync()
		}
		err = cmp.Or(err, part.Close())
	}
	if err == nil {
		err = f.place(part.Name())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}

// place gives a temporary file the name. A link is made only if there is no other file, also if that comes at the
// same moment; but not every file system has links.
func (f *File) place(part string) error {
	if os.Link(part, f.name) == nil {
		return nil
	}
	if _, err := os.Lstat(f.name); err == nil && !f.over() {
		return fs.ErrExist // it came meanwhile
	}
	return os.Rename(part, f.name)
}

// WriteTo writes to the file that a flag names, as [NewFile] does, or to out if it names "-". After an error there is
// nothing of it in either.
func WriteTo(out io.Writer, flag, name string, write func(io.Writer) error, inputs ...Input) error {
	if name == "-" {
		return writeWhole(out, write)
	}
	f, err := NewFile(flag, name, inputs...)
	if err != nil {
		return err
	}
	return f.Write(write)
}

// writeWhole writes to out what write wrote to its end.
func writeWhole(out io.Writer, write func(io.Writer) error) error {
	f, err := os.CreateTemp("", "")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	whole := bufio.NewWriter(f)
	if err := write(whole); err != nil {
		return err
	}
	if err := whole.Flush(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}
