package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mergesafe/internal/sqldb"
)

// placeOf says where a file is. Of one that is not there, the folder has to be.
func placeOf(path string) (p sqldb.Place, err error) {
	if p.Path, err = filepath.Abs(path); err != nil {
		return p, err
	}
	real, err := filepath.EvalSymlinks(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		folder, err := filepath.EvalSymlinks(filepath.Dir(p.Path))
		p.Path = filepath.Join(folder, filepath.Base(p.Path))
		return p, err
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
