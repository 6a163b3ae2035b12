package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

// takes is what must hold of a value so that the column takes it, as far as that
// can be said; "" if it takes every value of its kind.
func (d *mysqlDialect) takes(c *column) string {
	name := d.Quote(c.Name)
	text := fmt.Sprintf("CONVERT(%s USING %s)", name, c.charset)
	if c.charset == "" {
		text = name
	}
	unsigned := strings.Contains(strings.ToLower(c.Type), "unsigned")
	switch c.dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		most, least := mysqlMax(c.Type), "0"
		if !unsigned {
			least = "-" + strconv.FormatUint(most+1, 10)
		}
		return fmt.Sprintf("%s BETWEEN %s AND %d", name, least, most)
	case "char", "varchar":
		return fmt.Sprintf("CHAR_LENGTH(%s) <= %d", name, c.length) + keepsText(name, text, c.charset)
	case "tinytext", "text", "mediumtext", "longtext":
		return fmt.Sprintf("LENGTH(%s) <= %d", text, c.length) + keepsText(name, text, c.charset)
	case "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return fmt.Sprintf("LENGTH(%s) <= %d", name, c.length)
	case "binary":
		return fmt.Sprintf("LENGTH(%s) = %d", name, c.length) // what is shorter would be padded, and so be another value
	case "enum":
		return fmt.Sprintf("%s COLLATE %s IN (%s)", text, c.Collation, inType(c.Type))
	case "set":
		rest := "CONCAT(',', " + name + ", ',')"
		for _, member := range sqltext.Parts(inType(c.Type)) {
			rest = fmt.Sprintf("REPLACE(%s, CONCAT(',', %s, ','), ',')", rest, member)
		}
		return name + " = '' OR " + rest + " = ','"
	case "decimal":
		condition := fmt.Sprintf("%s = CAST(%s AS DECIMAL(%s))", name, name, inType(c.Type))
		if unsigned {
			condition += " AND " + name + " >= 0"
		}
		return condition
	case "timestamp":
		return name + " BETWEEN '1970-01-01 00:00:01' AND '2038-01-19 03:14:07.999999' OR " + name + " = '0000-00-00 00:00:00'"
	}
	return ""
}

// invalid adds the condition that the value of an ENUM is one of its members. What
// was none of them when it was written is kept as ”, which no INSERT can write.
func (t *building) invalid(d *mysqlDialect, c *column) {
	if c.dataType == "enum" && c.Generated == "" {
		t.Conditions = append(t.Conditions, catalog.Condition{
			Kind: catalog.ConditionValue, Name: c.Type, Text: d.takes(c), Columns: []string{c.Name}, Within: true,
		})
	}
}

// keepsText is the condition that a character set has all characters of a text.
func keepsText(name, text, charset string) string {
	if charset == "" || charset == "utf8mb4" {
		return ""
	}
	return fmt.Sprintf(" AND CAST(CONVERT(%s USING utf8mb4) AS BINARY) = CAST(CONVERT(%s USING utf8mb4) AS BINARY)", text, name)
}

// inType is what stands in the parentheses of a type: the members of an ENUM.
func inType(columnType string) string {
	all := sqltext.MySQL(columnType)
	if i := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text == "(" }); i >= 0 {
		return sqltext.InParentheses(columnType, all[i:])
	}
	return "NULL"
}
