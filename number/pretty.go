package number

import "strings"

// Pretty reports whether many players would want n, so that a game may keep it
// back: it is below 1000; all its digits are the same (777 777); each digit is one
// more, or one less, than the one before (12 345 678); it repeats one group of
// digits (12 121 212, 123 123); or it has only zeros after the first digit
// (5 000 000).
func Pretty(n Number) bool {
	if n < 1000 {
		return true
	}
	s := n.String()
	return strings.Trim(s[1:], "0") == "" || steps(s, 1) || steps(s, -1) || repeats(s)
}

// steps reports whether each digit is the one before it plus step.
func steps(s string, step int) bool {
	for i := 1; i < len(s); i++ {
		if int(s[i]) != int(s[i-1])+step {
			return false
		}
	}
	return true
}

// repeats reports whether s is one group of digits, at least twice.
func repeats(s string) bool {
	for size := 1; size <= len(s)/2; size++ {
		if len(s)%size == 0 && s[size:] == s[:len(s)-size] {
			return true
		}
	}
	return false
}
