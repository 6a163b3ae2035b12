package gameid

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Value gives h to the database driver: as JSON, or as empty text if h is zero.
func (h Holder) Value() (driver.Value, error) {
	if h.IsZero() {
		return "", nil
	}
	b, err := json.Marshal(h)
	return string(b), err
}

// Scan reads what [Holder.Value] wrote, as text or bytes.
func (h *Holder) Scan(src any) error {
	*h = Holder{}
	var text string
	switch v := src.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("gameid: a column of Go type %T cannot hold a holder: want text", src)
	}
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), h); err != nil {
		return fmt.Errorf("the holder %.80q is not readable: %w", text, err)
	}
	return nil
}
