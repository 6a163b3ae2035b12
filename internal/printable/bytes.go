package printable

import "fmt"

// Bytes writes a size for people: "512 B", "4.5 MiB".
func Bytes(n int64) string {
	size, sign := float64(n), ""
	if size < 0 {
		size, sign = -size, "-"
	}
	if size < 1024 {
		return fmt.Sprintf("%s%.0f B", sign, size)
	}
	units := "KMGTPE"
	for size /= 1024; size >= 1023.95 && len(units) > 1; size /= 1024 {
		units = units[1:]
	}
	return fmt.Sprintf("%s%.1f %ciB", sign, size, units[0])
}
