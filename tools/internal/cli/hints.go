package cli

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"syscall"
)

// full finds the full disk in what databases say: MySQL and MariaDB with its number or in
// words, SQLite in words.
var full = regexp.MustCompile(`(?i)\b(?:errno:?|errcode:|got error) 28\b|no space left|not enough space on the disk|dis[ck] (?:is )?full`)

// hintOf is what to do about an error of the machine; "" if that is not known.
func hintOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), full.MatchString(err.Error()):
		return "The disk is full. Free some space, or write to another disk, then run the same command again."
	case errors.Is(err, syscall.EDQUOT):
		return "Your quota on this disk is used up. Free some space, or write to another disk, then run the same command again."
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		return "This account has no right to do that with the file. Check the rights of the file and of its folder (ls -ld), or choose another file."
	case errors.Is(err, fs.ErrNotExist):
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			if folder, err := os.Getwd(); err == nil {
				return "Check the name of " + e.Path + ", and the folder: you are in " + folder + "."
			}
		}
	}
	return ""
}
