package gameid

import "strconv"

// ServerID names a server: a number from 1 to 1,048,575. It belongs to one world permanently, even
// after that world was merged into another.
type ServerID uint32

// ParseServerID reads a server in decimal. Anything but 1 to 1048575
// is a [*ServerError].
func ParseServerID(s string) (ServerID, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > uint64(MaxServer) {
		return 0, &ServerError{Server: s}
	}
	return ServerID(n), nil
}

// IsValid reports whether s is in range.
func (s ServerID) IsValid() bool { return s >= 1 && s <= MaxServer }

// Validate returns a [*ServerError] unless s is in range.
func (s ServerID) Validate() error {
	if !s.IsValid() {
		return &ServerError{Server: s.String()}
	}
	return nil
}

// String returns s in decimal. Inside the text of an [ID] it is in hexadecimal: digits 12
// to 16.
func (s ServerID) String() string { return strconv.FormatUint(uint64(s), 10) }
