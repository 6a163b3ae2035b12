package change

import (
	"context"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"mergesafe/merge/world"
)

// numeric is a type of numbers that can be added: integers, or decimals counted in units of
// their last digit.
type numeric struct {
	Scale     int
	Decimal   bool
	low, high *big.Int
}

var declaredNumber = regexp.MustCompile(`^(tinyint|smallint|mediumint|int|bigint|decimal)\b(?:\((\d+)(?:,(\d+))?\))?( unsigned)?`)

// numericType returns what a type takes. All that is not one of the types of MySQL and MariaDB is an
// integer of SQLite.
func numericType(declared string) numeric {
	t := numeric{low: new(big.Int).Lsh(big.NewInt(-1), 63), high: new(big.Int).SetUint64(1<<63 - 1)}
	m := declaredNumber.FindStringSubmatch(strings.ToLower(declared))
	if m == nil {
		return t
	}
	unsigned := m[4] != ""
	if m[1] == "decimal" {
		digits, _ := strconv.Atoi(m[2])
		t.Scale, _ = strconv.Atoi(m[3])
		t.Decimal = true
		t.high = new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil), big.NewInt(1))
		t.low = new(big.Int).Neg(t.high)
	} else {
		bits := map[string]uint{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[m[1]]
		if !unsigned {
			bits--
		}
		t.high = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1))
		t.low = new(big.Int).Sub(big.NewInt(-1), t.high)
	}
	if unsigned {
		t.low = new(big.Int)
	}
	return t
}

// Parse returns a value in units of the last digit.
func (t numeric) Parse(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case int64:
		if !t.Decimal {
			return big.NewInt(v), true
		}
	case uint64:
		if !t.Decimal {
			return new(big.Int).SetUint64(v), true
		}
	case []byte:
		if t.Decimal {
			return t.ParseDigits(string(v))
		}
	case string:
		if t.Decimal {
			return t.ParseDigits(v)
		}
	}
	return nil, false
}

// ParseDigits reads "-12.50".
func (t numeric) ParseDigits(text string) (*big.Int, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > t.Scale {
		return nil, false
	}
	return new(big.Int).SetString(whole+fraction+strings.Repeat("0", t.Scale-len(fraction)), 10)
}

// Value is the reverse of parse: as the database writes the number.
func (t numeric) Value(n *big.Int) any {
	switch {
	case !t.Decimal && n.IsInt64():
		return n.Int64()
	case !t.Decimal:
		return n.Uint64()
	}
	digits, sign := new(big.Int).Abs(n).String(), ""
	if n.Sign() < 0 {
		sign = "-"
	}
	if t.Scale == 0 {
		return []byte(sign + digits)
	}
	if missing := t.Scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return []byte(sign + digits[:len(digits)-t.Scale] + "." + digits[len(digits)-t.Scale:])
}

// totalOf adds up a column over all rows that take part in the merge, in the database itself.
// odd are values of SQLite that are not integers.
func totalOf(ctx context.Context, on *world.Connection, l *world.Layout, column int) (sum *big.Int, odd int64, err error) {
	sum = new(big.Int)
	name, from := l.Dialect.Quote(l.Columns[column]), " FROM "+l.Dialect.Quote(l.Table)+world.Where(on.Comes(l.Table))
	if l.Dialect.MySQL() {
		return sum, 0, on.Rows(ctx, "SELECT CAST(SUM("+name+") AS CHAR)"+from, false, nil, func(row []any) (bool, error) {
			if row[0] == nil {
				return true, nil
			}
			t, ok := numericType(l.Types[column]), false
			if sum, ok = t.ParseDigits(world.Text(row[0])); !ok {
				return false, fmt.Errorf("the sum of %s in %q is %.40q", l.Columns[column], on.Name, world.Text(row[0]))
			}
			return true, nil
		})
	}
	// A sum beyond 64 bits is an error there: in halves.
	total := func(of string) string { return "COALESCE(SUM(" + of + "), 0)" }
	query := "SELECT " + total(name+" >> 32") + ", " + total(name+" & 4294967295") + ", " +
		total("typeof("+name+") NOT IN ('integer', 'null')") + from
	err = on.Rows(ctx, query, false, nil, func(row []any) (_ bool, err error) {
		var parts [3]int64
		for i := range parts {
			if parts[i], err = world.IntIn(row[i], "the sum of "+l.Table+"."+l.Columns[column]); err != nil {
				return false, err
			}
		}
		sum.Add(new(big.Int).Lsh(big.NewInt(parts[0]), 32), big.NewInt(parts[1]))
		odd = parts[2]
		return true, nil
	})
	return sum, odd, err
}

// numericText is a number as people read it.
func numericText(t numeric, n *big.Int) string {
	if t.Decimal {
		return string(t.Value(n).([]byte))
	}
	return n.String()
}
