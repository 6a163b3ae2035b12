package spec

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/number"
)

var (
	cases = flag.Int("cases", 4000, "how many random questions each reader is asked")
	seed  = flag.Uint64("seed", 0, "ask the random questions of this seed again; 0: others each time")
)

// language is a reader in another language, with a program "answer" beside it
// that reads questions from its standard input, a line each, and answers each with
// a line: "ok" and what was read, "error" with its name and a message, or
// "unsupported". What a stranger may have chosen comes as hexadecimal.
type language struct {
	name   string
	needs  string // the program without which it cannot be tried
	public bool   // it reads public IDs

	// build makes the program from the readers' folder in another one, and
	// returns the command that runs it.
	build func(t *testing.T, folder string) []string
}

var languages = []language{
	{"javascript", "node", true, script("node", "javascript/answer.js")},
	{"python", "python3", false, script("python3", "-B", "python/answer.py")},
	{"lua", "lua5.4", false, script("lua5.4", "lua/answer.lua")},
	{"luajit", "luajit", false, script("luajit", "lua/answer.lua")},
	{"lua5.1", "lua5.1", false, script("lua5.1", "lua/answer.lua")},
	{"lua5.3", "lua5.3", false, script("lua5.3", "lua/answer.lua")},
	{"c", "cc", false, buildC},
	{"csharp", "mcs", true, buildCSharp},
	{"java", "javac", true, buildJava},
}

func script(command ...string) func(*testing.T, string) []string {
	return func(*testing.T, string) []string { return command }
}

// buildC makes a program that ends if it reads or writes what is not its own.
func buildC(t *testing.T, folder string) []string {
	out := filepath.Join(folder, "answer")
	watch := "-fsanitize=address,undefined"
	// With more random bits in addresses than this, programs of gcc 13 and before
	// that watch addresses crash now and then at their start.
	if bits, err := os.ReadFile("/proc/sys/vm/mmap_rnd_bits"); err != nil || strings.TrimSpace(string(bits)) > "28" {
		watch = "-fsanitize=undefined"
	}
	run(t, "cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", watch, "-fno-sanitize-recover", "-o", out, "c/gameid.c", "c/answer.c")
	return []string{out}
}

func buildCSharp(t *testing.T, folder string) []string {
	out := filepath.Join(folder, "answer.exe")
	run(t, "mcs", "-langversion:7.2", "-warnaserror", "-out:"+out, "csharp/GameID.cs", "csharp/Answer.cs")
	return []string{"mono", out}
}

func buildJava(t *testing.T, folder string) []string {
	sources, err := filepath.Glob("java/*.java")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "javac", append([]string{"-d", folder}, sources...)...)
	return []string{"java", "-XX:TieredStopAtLevel=1", "-cp", folder, "Answer"}
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// required says which languages must not be skipped: CI names those that it
// installs.
const required = "TEST_LANGUAGES_REQUIRED"

// Every reader gives the answers of vectors.json, and those of gameid and number to
// random questions.
func TestLanguages(t *testing.T) {
	servertest.Long(t)
	must := strings.Fields(os.Getenv(required))
	for _, name := range must {
		if !slices.ContainsFunc(languages, func(l language) bool { return l.name == name }) {
			t.Errorf("%s names %q, which is no language here", required, name)
		}
	}
	v := load(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			if _, err := exec.LookPath(l.needs); err != nil {
				if slices.Contains(must, l.name) {
					t.Fatalf("%v, and %s names %s", err, required, l.name)
				}
				t.Skipf("not tested: there is no %s", l.needs)
			}
			t.Parallel()
			command := l.build(t, t.TempDir())
			t.Run("vectors", func(t *testing.T) {
				l.ask(t, command, func(ask func(question)) { v.ask(ask) })
			})
			t.Run("random", func(t *testing.T) {
				seed := cmp.Or(*seed, rand.Uint64())
				t.Logf("-cases %d -seed %d", *cases, seed)
				l.ask(t, command, func(ask func(question)) {
					random := hostile{rand.New(rand.NewPCG(seed, 0))}
					for range *cases {
						ask(random.question())
					}
				})
			})
		})
	}
}

// ask asks one process of the reader all questions, and compares the answers.
func (l language) ask(t *testing.T, command []string, questions func(ask func(question))) {
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0") // that needs rights which containers may not have
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked := make(chan question, 1<<16)
	go func() {
		defer close(asked)
		defer stdin.Close()
		out := bufio.NewWriter(stdin)
		defer out.Flush()
		questions(func(q question) {
			asked <- q
			io.WriteString(out, q.line+"\n") // if the reader is gone, its answers are missing
		})
	}()
	answers := bufio.NewScanner(stdout)
	count, wrong, ok := 0, 0, 0
	const enough = 10 // wrong answers: then the reader is ended, and the rest is asked of nobody
	for q := range asked {
		if wrong >= enough {
			continue
		}
		if !answers.Scan() {
			t.Errorf("no answer to %.300q", q.line)
			wrong = enough
			cmd.Process.Kill()
			continue
		}
		count++
		if problem := l.judge(q, answers.Text()); problem != "" {
			t.Errorf("%.300q: %s", q.line, problem)
			if wrong++; wrong == enough {
				cmd.Process.Kill()
			}
		}
		if strings.HasPrefix(q.want, "ok") {
			ok++
		}
	}
	if wrong == 0 && answers.Scan() {
		t.Errorf("an answer too many: %q", answers.Text())
	}
	if err := cmd.Wait(); wrong < enough && err != nil || stderr.Len() > 0 {
		t.Errorf("%v\n%s", err, &stderr)
	}
	t.Logf("%d questions, %d of them valid", count, ok)
	if ok < 20 || count-ok < 20 {
		t.Error("too few questions are valid, or invalid")
	}
}

// judge returns what is wrong with an answer, or "".
func (l language) judge(q question, answer string) string {
	if !l.public && (strings.HasPrefix(q.line, "seal\t") || strings.HasPrefix(q.line, "open\t")) {
		if answer != "unsupported" {
			return fmt.Sprintf("got %q, want unsupported", answer)
		}
		return ""
	}
	if strings.HasPrefix(q.want, "ok") {
		if answer != q.want {
			return fmt.Sprintf("got %q, want %q", answer, q.want)
		}
		return ""
	}
	message, ok := strings.CutPrefix(answer, q.want+"\t")
	switch {
	case !ok:
		return fmt.Sprintf("got %q, want %q", answer, q.want)
	case len(message) < 10 || len(message) > 600:
		return fmt.Sprintf("a message of %d bytes: %q", len(message), message)
	case strings.ContainsFunc(message, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Sprintf("the message is not plain: %q", message)
	}
	return ""
}

// ask asks for all vectors. What they want is what the file says.
func (v vectors) ask(ask func(question)) {
	told := func(q question, want string) { ask(question{q.line, want}) }
	for _, id := range v.IDs {
		want := fmt.Sprintf("ok\t%d\t%d\t%d\t%s\t%s\t%s", id.Millis, id.Server, id.Sequence, id.Text, id.Text, id.Time)
		told(askText(id.Input), want)
		told(askBytes(unhex(id.Text)), want)
		told(askFields(id.Millis, id.Server, id.Sequence), want)
	}
	for i, a := range v.Order {
		for j, b := range v.Order {
			order := 0
			if i != j {
				order = 2*min(1, max(0, i-j)) - 1
			}
			told(askCompare(a, b), fmt.Sprintf("ok\t%d", order))
		}
	}
	for _, i := range v.InvalidText {
		told(askText(i.Input), fail(i.Error))
	}
	for _, i := range v.InvalidBytes {
		told(askBytes(unhex(i.Input)), fail(i.Error))
	}
	for _, f := range v.InvalidFields {
		told(askFields(f.Millis, f.Server, f.Sequence), fail(f.Error))
	}
	for _, p := range v.Public {
		told(askSeal(unhex(p.Key), p.Kind, p.ID), "ok\t"+p.Public)
		told(askOpen(unhex(p.Key), p.Kind, p.Public), "ok\t"+p.ID)
	}
	for _, p := range v.InvalidPublic {
		told(askOpen(unhex(p.Key), p.Kind, p.Public), fail(p.Error))
	}
	for _, n := range v.Numbers {
		checked := map[bool]int{true: 1}[n.Checked]
		told(askNumber(n.Input), fmt.Sprintf("ok\t%d\t%s\t%d", n.Number, n.Spaced, checked))
		if n.Checked {
			told(askChecked(n.Input), fmt.Sprintf("ok\t%d", n.Number))
		} else {
			told(askChecked(n.Input), fail("mistyped"))
		}
	}
	for _, i := range v.InvalidNumber {
		told(askNumber(i.Input), fail(i.Error))
		told(askChecked(i.Input), fail(i.Error))
	}
	for _, c := range v.CheckDigits {
		told(askWithCheck(c.Number), fmt.Sprintf("ok\t%d", c.WithCheck))
	}
	for _, input := range v.Mistyped {
		told(askChecked(input), fail("mistyped"))
	}
}

// hostile thinks of questions: valid ones, ones that are nearly so, and noise.
type hostile struct{ *rand.Rand }

func (r hostile) question() question {
	switch r.IntN(12) {
	case 0, 1, 2:
		return askText(r.damaged(r.anyCase(r.id().String())))
	case 3:
		b := r.id().Bytes()
		return askBytes([]byte(r.damaged(string(b[:]))))
	case 4:
		return askFields(r.field(44), r.field(20), r.field(16))
	case 5:
		a := r.id()
		b := a
		if r.IntN(8) > 0 {
			b = r.near(a)
		}
		return askCompare(r.anyCase(a.String()), r.anyCase(b.String()))
	case 6, 7:
		return r.publicQuestion()
	case 8, 9:
		return askNumber(r.damaged(r.numberText(r.number())))
	case 10:
		n := r.number()
		if n <= number.Max/10 {
			n = n.WithCheck()
		}
		return askChecked(r.damaged(r.numberText(n)))
	default:
		return askWithCheck(r.field(47))
	}
}

// id is an ID, often at the border of a field.
func (r hostile) id() gameid.ID {
	for {
		id, err := gameid.Make(gameid.TimeOf(r.bits(44)), gameid.ServerID(r.bits(20)), uint16(r.bits(16)))
		if err == nil {
			return id
		}
	}
}

// near is an ID that has two of the three fields of another.
func (r hostile) near(id gameid.ID) gameid.ID {
	other := r.id()
	millis, server, sequence := id.Millis(), id.Server(), id.Sequence()
	switch r.IntN(3) {
	case 0:
		millis = other.Millis()
	case 1:
		server = other.Server()
	default:
		sequence = other.Sequence()
	}
	near, err := gameid.Make(gameid.TimeOf(millis), server, sequence)
	if err != nil {
		panic(err)
	}
	return near
}

// bits is a number of at most that many bits. All lengths are as likely, and so
// are numbers beside a power of two.
func (r hostile) bits(most int) int64 {
	n := int64(1) << r.IntN(most+1)
	switch r.IntN(3) {
	case 0:
		n += r.Int64N(3) - 1
	default:
		n += r.Int64N(n)
	}
	return min(n, 1<<most-1)
}

// field is mostly a number of that many bits, and else one that a double still
// holds.
func (r hostile) field(most int) int64 {
	switch r.IntN(12) {
	case 0:
		return -r.bits(53)
	case 1:
		return r.bits(53)
	case 2:
		return 0
	}
	return r.bits(most)
}

func (r hostile) anyCase(text string) string {
	switch r.IntN(3) {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return strings.Map(func(c rune) rune {
			if r.IntN(2) == 0 {
				return []rune(strings.ToUpper(string(c)))[0]
			}
			return c
		}, text)
	}
	return text
}

// What readers stumble over: borders of the digits, spaces, signs, line ends, zeros, digits
// of other scripts, letters that change their length with their case, gaps, surrogates,
// and what is no UTF-8.
var noise = []string{"/", ":", "@", "G", "`", "g", " ", "\t", "\n", "\r", "\x00", "-", "+", "_", ".", ",", "0x", "0X", "e", "0", "9", "٣", "３", "ı", "İ", "ﬀ", "𝟘", "😀",
	"\u00a0", "\u2009", "\u202f", "\u2011", "\u2007", "\u200b", "\ufeff", "\xff", "\xc2", "\xa0", "\xe2\x80", "\xed\xa0\x80", "\xc0\xa0", "\xf4\x90\x80\x80", "'", "\"", "\\", "%s", "%n", "$1"}

// damaged is the text, more often than not with something wrong about it.
func (r hostile) damaged(text string) string {
	if r.IntN(3) == 0 {
		return text
	}
	for range 1 + r.IntN(2) {
		at := r.IntN(len(text) + 1)
		switch r.IntN(7) {
		case 0:
			text = text[:at] + noise[r.IntN(len(noise))] + text[at:]
		case 1: // in place of something
			text = text[:at] + noise[r.IntN(len(noise))] + text[min(at+1, len(text)):]
		case 2:
			text = text[:at]
		case 3:
			text = text[at:]
		case 4:
			text += text[:at]
		case 5:
			text = text[:at] + string([]byte{byte(r.Uint32())}) + text[min(at+1, len(text)):]
		case 6:
			if r.IntN(10) == 0 {
				text += strings.Repeat(noise[r.IntN(len(noise))], r.IntN(500))
			} else if len(text) == 2*gameid.Size { // no server
				text = text[:11] + "00000" + text[16:]
			}
		}
	}
	return text
}

func (r hostile) number() number.Number {
	return number.Number(min(r.bits(50), int64(number.Max)))
}

func (r hostile) numberText(n number.Number) string {
	if r.IntN(2) == 0 {
		return n.String()
	}
	gap := []string{" ", "-", "\u00a0", "\u2009", "\u202f", "\u2011"}[r.IntN(6)]
	return strings.ReplaceAll(n.Spaced(), " ", gap)
}

func (r hostile) publicQuestion() question {
	key := unhex([]string{key16, key24, key32}[r.IntN(3)])
	kind := []string{"player", "item", "公会", "p", "nine long", "ten letter", "11  letters", strings.Repeat("x", 300)}[r.IntN(8)]
	switch r.IntN(12) {
	case 0:
		key = key[:r.IntN(len(key)+1)]
	case 1:
		kind = ""
	}
	if r.IntN(2) == 0 {
		return askSeal(key, kind, r.damaged(r.id().String()))
	}
	b := make([]byte, gameid.Size) // opens to anything
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return askOpen(key, kind, r.damaged(r.anyCase(hex.EncodeToString(b))))
}
