package campaign

import (
	"errors"
	"os"
	"syscall"
)

// sharingViolation: the file is open elsewhere, and is not shared.
const sharingViolation = syscall.Errno(32)

// openLocked opens the lock file. It returns errTaken if another process has it alone, or wants
// it alone while others look.
func openLocked(path string, alone bool) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	access, shared, create := uint32(syscall.GENERIC_READ), uint32(syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE), uint32(syscall.OPEN_EXISTING)
	if alone {
		access, shared, create = access|syscall.GENERIC_WRITE, 0, syscall.OPEN_ALWAYS
	}
	h, err := syscall.CreateFile(name, access, shared, nil, create, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errTaken
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}
