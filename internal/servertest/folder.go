package servertest

import (
	"errors"
	"os"
	"path/filepath"
)

const pattern = "mergesafe-server-*"

// New makes the folder of one server, and in it a lock file that stays locked as long as this process lives.
func New(parent string) (dir string, lock *os.File, err error) {
	dir, err = os.MkdirTemp(parent, pattern)
	if err != nil {
		return "", nil, err
	}
	dir, err = filepath.Abs(dir)
	if err == nil {
		lock, err = newLock(dir)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, lock, nil
}

// newLock makes the lock file under another name first, so that RemoveAbandoned never sees it unlocked.
func newLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	lock, err := os.Create(path + ".new")
	if err != nil {
		return nil, err
	}
	if err := tryLock(lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		lock.Close()
		return nil, err
	}
	return lock, os.Rename(path+".new", path)
}

// RemoveAbandoned removes the folders of servers whose processes were killed before they could do it
// themselves. What it can't remove does no harm.
func RemoveAbandoned(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, pattern, "lock"))
	for _, path := range locks {
		lock, err := os.Open(path)
		if err != nil {
			continue
		}
		if tryLock(lock) == nil {
			os.RemoveAll(filepath.Dir(path))
		}
		lock.Close()
	}
}
