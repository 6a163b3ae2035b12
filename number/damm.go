package number

// The check digit is that of Damm: H. Michael Damm, "Total anti-symmetrische
// Quasigruppen", doctoral thesis, Philipps-Universität Marburg, 2004. It is one
// decimal digit, and detects every single wrong digit and every swap of two
// neighbours. (Luhn's misses the swap of 0 and 9.)

// damm is the quasigroup of order 10 from the thesis. The check digit of a
// number is what is left of it when its digits go through the table one by
// one, the greatest first; with its check digit at the end, 0 is left.
const damm = "" +
	"0317598642" +
	"7092154863" +
	"4206871359" +
	"1750983426" +
	"6123045978" +
	"3674209581" +
	"5869720134" +
	"8945362017" +
	"9438617205" +
	"2581436790"

// through returns what is left of n. Leading zeros change nothing.
func through(n Number) byte {
	// The digits come from the least on, but are needed from the greatest on.
	var digits [20]byte
	i := len(digits)
	for v := uint64(n); v > 0; v /= 10 {
		i--
		digits[i] = byte(v % 10)
	}
	left := byte(0)
	for _, digit := range digits[i:] {
		left = damm[10*left+digit] - '0'
	}
	return left
}

// Checked reports whether the last digit of n is the check digit of those
// before it.
func (n Number) Checked() bool { return n > 9 && through(n) == 0 }

// WithCheck returns n with its check digit at the end: 10 n and one digit. For
// that n must be at most [Max] / 10.
func (n Number) WithCheck() Number { return 10*n + Number(through(n)) }
