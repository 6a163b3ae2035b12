package number

import "testing"

// damm is the quasigroup of order 10 as it is in the thesis: row by what is
// left so far, column by the next digit.
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

func step(left, digit byte) byte { return damm[10*left+digit] - '0' }

// What the method rests on, for all digits that can occur: no two numbers with
// one different digit, or with two neighbours swapped, leave the same.
func TestDamm(t *testing.T) {
	for left := range byte(10) {
		for x := range byte(10) {
			if got, want := byte(dammPairs[100*int(left)+int(x)]-'0'), step(step(left, 0), x); got != want {
				t.Errorf("%d, 0%d: the table of pairs has %d, want %d", left, x, got, want)
			}
			if step(left, left) != 0 {
				t.Errorf("the check digit of what leaves %d is another", left)
			}
			for y := range byte(10) {
				if got, want := byte(dammPairs[100*int(left)+10*int(x)+int(y)]-'0'), step(step(left, x), y); got != want {
					t.Errorf("%d, %d%d: the table of pairs has %d, want %d", left, x, y, got, want)
				}
				if x == y {
					continue
				}
				if step(left, x) == step(left, y) || step(x, left) == step(y, left) {
					t.Errorf("%d instead of %d is not detected after, or before, %d", x, y, left)
				}
				if step(step(left, x), y) == step(step(left, y), x) {
					t.Errorf("%d%d instead of %d%d is not detected after %d", x, y, y, x, left)
				}
			}
		}
	}
}
