package gameworlds

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hash returns a number that depends on words alone: what it decides is so in all worlds.
func hash(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return h.Sum64() % 1_000_003
}

// pick chooses one of some values by words alone.
func pick[T any](of []T, words ...string) T { return of[hash(words...)%uint64(len(of))] }

func random(seed uint64, words ...string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, hash(words...)))
}

// vague are names that say nothing about what a number of the game's data is: a column with such a
// name has numbers of its own.
var vague = []string{"id", "key", "index", "type", "entry", "value", "guid", "order", "level", "name"}

// places are parts of names of columns that count within something.
var places = []string{"slot", "index", "order", "rank", "rid", "tab", "sid", "pid", "position", "member", "logguid", "local", "spec", "seq"}

// naturals returns the numbers of the game's own data that a column may have, the same in all worlds.
func naturals(c *column) []int64 {
	words := []string{"natural", strings.ToLower(c.Name), c.kind}
	if slices.Contains(vague, strings.ToLower(c.Name)) {
		words = append(words, c.Table)
	}
	limits, _ := c.limits()
	rng := random(1, words...)
	small := c.kind == "tinyint" || slices.ContainsFunc(places, func(part string) bool { return strings.Contains(strings.ToLower(c.Name), part) })
	if small {
		return counted(int64(pick([]int{3, 8, 16, 30}, words...)))
	}
	all := make(map[int64]bool)
	for n := pick([]int{15, 60, 150, 400}, words...); len(all) < n; {
		v := int64(math.Exp(rng.Float64()*math.Log(60_000))) + rng.Int64N(50)
		all[min(max(v, 1), limits.Max)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// counted returns 0 to n-1.
func counted(n int64) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// plain returns a source of values that name nothing, as the column's name and type suggest.
func (p *plan) plain(rng *rand.Rand, c *column, unique bool) func() any {
	limits, integer := c.limits()
	switch {
	case integer:
		number := p.plainNumber(rng, c)
		return func() any { return min(max(number(), limits.Min), limits.Max) }
	case len(c.values) > 0:
		return func() any { return c.values[rng.IntN(len(c.values))] }
	case c.bytes():
		return func() any {
			b := make([]byte, min(c.length, 4+rng.Int64N(12)))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return b
		}
	case c.text():
		return plainText(rng, c, unique)
	}
	switch c.kind {
	case "bit":
		return func() any { return rng.Int64N(2) }
	case "decimal":
		top := math.Pow10(int(min(c.digits[0]-c.digits[1], 5)))
		return func() any { return rng.Float64() * (top - 1) }
	case "date":
		return func() any { return p.past(rng).Format(time.DateOnly) }
	case "datetime", "timestamp":
		return func() any { return p.past(rng).Format(time.DateTime) }
	case "time":
		return func() any { return p.past(rng).Format(time.TimeOnly) }
	case "year":
		return func() any { return int64(p.past(rng).Year()) }
	default: // float, double
		top := 5000.
		if c.digits[1] > 0 { // float(3,1)
			top = min(top, math.Pow10(int(c.digits[0]-c.digits[1]))-1)
		}
		return func() any { return rng.Float64() * top }
	}
}

// past returns a second of the last years, sooner ones more often.
func (p *plan) past(rng *rand.Rand) time.Time {
	return p.opts.Today.Add(-time.Duration(rng.ExpFloat64()*200*24*3600) * time.Second)
}

// plainNumber returns a source of integers, as the column's name suggests.
func (p *plan) plainNumber(rng *rand.Rand, c *column) func() int64 {
	amount := func(top float64) func() int64 {
		return func() int64 { return int64(math.Exp(rng.Float64()*math.Log(top))) - 1 }
	}
	few := func(n int64) func() int64 { return func() int64 { return rng.Int64N(n) } }
	name := strings.ToLower(c.Name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	limits, _ := c.limits()
	switch {
	case has("level", "_lv") || name == "lv":
		return func() int64 { return 1 + min(rng.Int64N(80), rng.Int64N(160)) }
	case has("time", "date", "expire", "created", "_at", "login", "ends") && limits.Max >= math.MaxInt32:
		return func() int64 { return p.past(rng).Unix() }
	case has("race", "class", "gender", "sex", "type", "status", "state", "flag", "mode", "is_", "online", "style", "color"):
		return few(pick([]int64{2, 3, 5, 10}, name))
	case has("money", "gold", "price", "exp", "xp", "meso", "zeny", "balance", "wealth", "point", "cost", "deposit", "bid", "damage"):
		return amount(1e6)
	case has("count", "number", "amount", "num", "kills", "total", "quantity", "wins", "losses", "games", "stack"):
		return func() int64 { return int64(rng.ExpFloat64() * 20) }
	case has("pos", "_x", "_y", "_z") || len(name) == 1:
		return few(5000)
	}
	return pick([]func() int64{
		few(2), few(6), few(101), amount(1000), amount(1e6),
		func() int64 { return 1 + rng.Int64N(5000) },
		func() int64 { return max(0, rng.Int64N(100)-90) },
		func() int64 { return 1 << rng.Int64N(16) },
	}, "plain", name)
}

var syllables = strings.Fields("ar ba cel dor el fin gor hal is jor kal lun mor nar or per quin ras sil tor ul vor wen xan yl zor")

// plainText returns a source of texts: names, each once, or a few words.
func plainText(rng *rand.Rand, c *column, unique bool) func() any {
	word := func() string {
		return syllables[rng.IntN(len(syllables))] + syllables[rng.IntN(len(syllables))]
	}
	n := rng.Int64N(10_000)
	return func() any {
		if unique || strings.HasSuffix(strings.ToLower(c.Name), "name") {
			n++
			suffix := strconv.FormatInt(n, 36)
			return cut(cut(word(), max(0, c.length-int64(len(suffix))))+suffix, c.length)
		}
		words := make([]string, rng.IntN(6))
		for i := range words {
			words[i] = word()
		}
		return cut(strings.Join(words, " "), c.length)
	}
}

func cut(text string, length int64) string { return text[:min(int64(len(text)), length)] }

// chosenName returns a source of names that persons chose: one in eight is one that many like.
func chosenName(rng *rand.Rand, c *column) func() any {
	return func() any {
		word := syllables[rng.IntN(len(syllables))] + syllables[rng.IntN(len(syllables))]
		if rng.IntN(8) > 0 {
			word += strconv.FormatUint(uint64(rng.Uint32()), 36)
		}
		return cut(strings.ToUpper(word[:1])+word[1:], c.length)
	}
}

// cell returns what a column has in it where it has a key in it: in some of the bits of a number, or among other text.
func cell(rng *rand.Rand, c *column, key int64) any {
	limits, integer := c.limits()
	switch {
	case integer && limits.Max > math.MaxUint32:
		return pick([]int64{0x4000<<48 | key, key<<32 | rng.Int64N(5000)}, c.String())
	case integer && strings.ContainsAny(c.Name[len(c.Name)-1:], "13579"):
		return key >> 16 & 0xFFFF
	case integer:
		return key & 0xFFFF
	case c.bytes():
		b := binary.LittleEndian.AppendUint32([]byte{20}, uint32(key))
		return b[:min(c.length, int64(len(b)))]
	}
	return cut(pick([]string{
		fmt.Sprintf("%d 0 %d 0", key, rng.Int64N(5000)),
		fmt.Sprintf("%d:0:%d:%d:1", rng.Int64N(5000), rng.Int64N(6), key),
		fmt.Sprintf("%016x:%d", key, rng.Int64N(100_000)),
		fmt.Sprintf("sold to (guid: %d) for %d", key, rng.Int64N(100_000)),
	}, c.String()), c.length)
}
