package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mergesafe/internal/sqldb"
)

// placeOf says where a file is, or would be.
func placeOf(path string) (p sqldb.Place, err error) {
	if p.Path, err = filepath.Abs(path); err != nil {
		return p, err
	}
	real, err := filepath.EvalSymlinks(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if folder, err := filepath.EvalSymlinks(filepath.Dir(p.Path)); err == nil {
			p.Path = filepath.Join(folder, filepath.Base(p.Path))
		}
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.Path = real
	if p.File, err = os.Stat(real); err != nil {
		return p, err
	}
	os.SameFile(p.File, p.File) // Windows finds out only now which file it is
	p.Remote = remote(real)
	return p, nil
}
