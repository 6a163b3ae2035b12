package number

// The check digit is that of Damm: H. Michael Damm, "Total anti-symmetrische
// Quasigruppen", doctoral thesis, Philipps-Universität Marburg, 2004. It is one
// decimal digit, and detects every single wrong digit and every swap of two
// neighbours. (Luhn's misses the swap of 0 and 9.)

// dammPairs is the quasigroup of order 10 from the thesis, for two digits at a
// time, which is twice as fast: a row of 100 for each digit that was left so
// far. (The test has the table for one digit.) The check digit of a number is
// what is left of it when its digits, the greatest first, have gone through the
// table; with its check digit at the end, 0 is left.
const dammPairs = "" +
	"0317598642175098342670921548638945362017367420958125814367909438617205586972013461230459784206871359" +
	"8945362017031759864225814367904206871359709215486336742095816123045978943861720558697201341750983426" +
	"6123045978420687135903175986425869720134943861720589453620177092154863175098342636742095812581436790" +
	"7092154863894536201736742095810317598642258143679094386172051750983426612304597842068713595869720134" +
	"5869720134709215486342068713591750983426031759864261230459783674209581258143679089453620179438617205" +
	"1750983426586972013489453620176123045978420687135903175986422581436790367420958194386172057092154863" +
	"3674209581943861720558697201342581436790894536201742068713590317598642709215486317509834266123045978" +
	"9438617205258143679061230459783674209581175098342658697201344206871359031759864270921548638945362017" +
	"2581436790612304597817509834269438617205586972013470921548638945362017420687135903175986423674209581" +
	"4206871359367420958194386172057092154863612304597817509834265869720134894536201725814367900317598642"

// through returns what is left of n. Leading zeros change nothing.
func through(n Number) byte {
	// The digits come from the least on, but are needed from the greatest on.
	var pairs [10]byte
	i := len(pairs)
	for v := uint64(n); v > 0 && i > 0; v /= 100 {
		i--
		pairs[i] = byte(v % 100)
	}
	left := 0
	for _, pair := range pairs[i:] {
		left = int(dammPairs[100*left+int(pair)] - '0')
	}
	return byte(left)
}

// Checked reports whether the last digit of n is the check digit of those
// before it.
func (n Number) Checked() bool { return n > 9 && through(n) == 0 }

// WithCheck returns n with its check digit at the end: 10 times n, plus that digit.
// n must be at most [Max] / 10.
func (n Number) WithCheck() Number { return 10*n + Number(through(n)) }
