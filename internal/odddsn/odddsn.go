// Package odddsn makes DSNs as people mistype them, or paste from elsewhere, each with a password
// that nothing may show. It is for tests.
package odddsn

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The two halves of each password: a message may break it where a DSN breaks.
const first, second = "hUnt3rAq", "wZ9xTb4k"

// Password is one that each of the DSNs may have.
const Password = first

// forms are texts with § in the place of a password: ours with something missing, doubled or elsewhere,
// and those of other drivers and programs.
var forms = []string{
	// with a separator that is missing, doubled or another one
	"mysql:g:§@tcp(127.0.0.1:1)/a", "mysql:g:§@tcp(127.0.0.1:1)", "mysql:g:§@tcp(127.0.0.1:1)/",
	"mysql:g:§@tcp(127.0.0.1:1", "mysql:g:§@tcp127.0.0.1:1/a",
	"mysql:g:§@tcp/a", "mysql:g:§@/a", "mysql:g:§@127.0.0.1:1/a", "mysql:g:§@(127.0.0.1:1)/a",
	"mysql:g:§@udp(127.0.0.1:1)/a", "mysql:g:§", "mysql:§", "mysql:g:§@",
	"mysql:g:§tcp(127.0.0.1:1)/a", "mysql:g:§ tcp(127.0.0.1:1)/a", "mysql:g §@tcp(127.0.0.1:1)/a",
	"mysql:g§@tcp(127.0.0.1:1)/a", "mysql:g;§@tcp(127.0.0.1:1)/a",
	"mysql:g::§@tcp(127.0.0.1:1)/a", "mysql:g:x:§@tcp(127.0.0.1:1)/a", "mysql:g:§@@tcp(127.0.0.1:1)/a",
	"mysql:g:§@tcp((127.0.0.1:1))/a", "mysql:g:§@tcp(127.0.0.1:1)//a",
	"mysql:g/§@tcp(127.0.0.1:1)/a", "mysql::§@tcp(127.0.0.1:1)/a", "mysql: g:§@tcp(127.0.0.1:1)/a",
	"mysql:g:§@tcp(127.0.0.1:1)/a ", " mysql:g:§@tcp(127.0.0.1:1)/a",
	"mysql:g:§@unix(/no/m.sock)/a", "mysql:g:§@unix/no/m.sock/a", "mysql:unix(g:§)/a", "mysql:g:§@pipe(m)/a",
	"mysql:g%3A§%40tcp(127.0.0.1:1)/a",
	"g:§@tcp(127.0.0.1:1)/a", "MYSQL:g:§@tcp(127.0.0.1:1)/a", "MySql:g:§@tcp(127.0.0.1:1)/a",
	"mysql;g:§@tcp(127.0.0.1:1)/a", "mariadb:g:§@tcp(127.0.0.1:1)/a",
	"'mysql:g:§@tcp(127.0.0.1:1)/a'", `"mysql:g:§@tcp(127.0.0.1:1)/a"`, "mysql:'g:§'@tcp(127.0.0.1:1)/a",
	"mysql:\"g:§@tcp(127.0.0.1:1)/a", "dsn=mysql:g:§@tcp(127.0.0.1:1)/a",
	"mysql:mysql:g:§@tcp(127.0.0.1:1)/a", "mysql:sqlite:g:§@tcp(127.0.0.1:1)/a",
	// with the password in another place
	"mysql:g@tcp(127.0.0.1:1)/a:§", "mysql:g:x@tcp(127.0.0.1:1)/a;password=§",
	"mysql:g tcp(127.0.0.1:1)/a password=§", "mysql:g:x@tcp(127.0.0.1:1:§)/a", "mysql:g:x@tcp(§:1:1)/a",
	"mysql:g:x@tcp(g:§)/a", "mysql:g:x@tcp(127.0.0.1:§)/a", "mysql:g:x@tcp(127.0.0.1:1,g:§)/a",
	"mysql:tcp(g:§@127.0.0.1:1)/a", "mysql:g:x@§(127.0.0.1:1)/a", "mysql:tcp(127.0.0.1:1)/g:§",
	"mysql:tcp(127.0.0.1:1)/a@g:§", "mysql:g:x@tcp(127.0.0.1:1)/a g §", "mysql:g:x@tcp([g:§])/a",
	"mysql:g:x@tcp(127.0.0.1:1)/a,§", "mysql:g:x@tcp(127.0.0.1:1)/a%3A§", "mysql:g:x@tcp(127.0.0.1:1)/a\n§",
	"mysql:g:x@tcp(127.0.0.1:1)/a -p§", "mysql:g:x@tcp(127.0.0.1:1)/a --password §",
	"mysql:g:x@tcp(127.0.0.1:1)/a|§", "mysql:g:x@tcp(127.0.0.1:1)/a#pwd=§",
	"mysql:g;password=§:x@tcp(127.0.0.1:1)/a",
	// parameters
	"mysql:g@tcp(127.0.0.1:1)/a?password=§", "mysql:g@tcp(127.0.0.1:1)/a?Pwd=§&pwd=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?charset=§", "mysql:g:x@tcp(127.0.0.1:1)/a?sql_mode=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?tls=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?timeout=§", "mysql:g:x@tcp(127.0.0.1:1)/a?parseTime=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?loc=§", "mysql:g:x@tcp(127.0.0.1:1)/a?collation=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?x=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?tls-ca=g:§", "mysql:g:x@tcp(127.0.0.1:1)/a?tls-cert=g:§&tls-key=g:§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?timeout=1s?x=§", "mysql:g:x@tcp(127.0.0.1:1)/a?§",
	"mysql:g:x@tcp(127.0.0.1:1)/a&password=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?maxAllowedPacket=§", "mysql:g:x@tcp(127.0.0.1:1)/a?serverPubKey=§",
	"mysql:g:x@tcp(127.0.0.1:1)/a?connectionAttributes=k:§", "mysql:g:x@tcp(127.0.0.1:1)/a?tls-server-name=g:§",
	// with the wrong name in front
	"sqlite:game:§@tcp(127.0.0.1:1)/s1", "sqlite:g:§", "sqlite:g:§@h/a", "sqlite:§@tcp(h)/a",
	"sqlite:x.db?password=§", "sqlite:x.db?_auth&_auth_user=g&_auth_pass=§", "sqlite:x.db;Password=§",
	"sqlite:file:x.db?key=§",
	"sqlite:///x.db?password=§", "sqlite://g:§@h/x.db", "sqlite:x.db password=§", "sqlite:-p§",
	"sqlite:Server=h;Uid=u;Pwd=§", "sqlite:no/such/g:§@h/x.db", "sqlite:./g:§", "sqlite:/g:§@h/a",
	"sqlite::memory:?key=§",
	"sqlite:g%3A§%40h", "sqlite:x.db -p § -p§", "sqlite:'x.db?key=§'", "sqlite:x.db\nPWD=§",
	"SQLITE:x.db?password=§", "sqlite:mysql:g:§@tcp(h)/a", "sqlite:x.db|§", "mysql:x.db?password=§",
	"mysql:/var/x/g:§.db",
	// of other drivers and programs
	"Server=h;Uid=u;Pwd=§", "Server=h;Database=a;User Id=u;Password=§;", "server=h; user=u; password=§",
	"Data Source=h;User ID=u;Password='§'", "Driver={MySQL ODBC};Server=h;PWD={§}", "host=h user=u password=§",
	"host=h password='§' dbname=a",
	"host=h,password=§", "user=u\npassword=§", "postgres://u:§@h:5432/a", "postgresql://h/a?user=u&password=§",
	"mysql://u:§@h:3306/a", "mysqlx://u:§@h/a", "mysql+pymysql://u:§@h/a",
	"jdbc:mysql://h:3306/a?user=u&password=§",
	"jdbc:mysql://u:§@h/a", "jdbc:mariadb:loadbalance://h/a?password=§", "mongodb+srv://u:§@h/a",
	"redis://:§@h:6379", "sqlserver://u:§@h?database=a", "odbc:Server=h;PWD=§", "u/§@//h:1521/a", "u:§@h",
	"u:§@h:3306/a", "https://u:§@h/",
	"-p§", "--password=§", "-uroot -p§", "-u root --password §", "--pwd=§", "-hdb1 -ug -p§ a", "PW=§",
	"MYSQL_PWD=§", "PGPASSWORD=§", "export DSN=mysql:g:§@tcp(h)/a", "$DSN=§", "{\"password\":\"§\"}",
	"password: §", "[client]\npassword=§", "mysql -ug -p§ a",
	"Authorization: Basic §", "Bearer=§", "token=§", "key=§", "dsn = 'mysql:g:§@tcp(h)/a'",
	"name,dsn\na,mysql:g:§@tcp(h)/a", "../g:§@tcp(h)/a", "g:§@tcp(h)/a.json", "plan-g:§@h.json",
	"x.toml?password=§", "mysql:g:§@tcp(127.0.0.1:1)/a?timeout=1s",
}

// Each returns the DSNs, each once: more than 1,000.
func Each() (all []string) {
	add := func(form, password string) { all = append(all, strings.ReplaceAll(form, "§", password)) }
	passwords := []string{encodings(first)[1], second + strings.Repeat("x", 500) + first}
	for _, c := range []string{"@", ":", "/", "?", "#", "%", "%%", "%40", "&", "=", ";", ",", "(", ")", "[", "{",
		"<", "'", `"`, "`", `\`, " ", "\t", "\n", "+", "$", "*", "~", "|", "!", "ü", "密", "😀", "\x00", "\xff",
		"@tcp(", "://"} {
		passwords = append(passwords, first+c+second, c+first+c+second+c)
	}
	for i, form := range forms {
		// Each form with some passwords, and each password with some forms.
		add(form, first)
		for j := range passwords {
			if (i+j)%11 == 0 {
				add(form, passwords[j])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// With returns the DSNs with a password that has these texts around it.
func With(before, after string) (all []string) {
	for _, form := range forms {
		all = append(all, strings.ReplaceAll(form, "§", before+first+after))
	}
	return all
}

// Shown returns what of a password a text shows, in any case and encoding; "" if it does not.
func Shown(text string) string {
	lower := strings.ToLower(text)
	for _, part := range []string{first, second} {
		for _, form := range encodings(part) {
			if i := strings.Index(lower, strings.ToLower(form)); i >= 0 {
				return text[max(0, min(i, len(text))-60):min(len(text), i+len(form)+20)]
			}
		}
	}
	return ""
}

func encodings(part string) (all []string) {
	var percent, hex, entities strings.Builder
	for _, b := range []byte(part) {
		fmt.Fprintf(&percent, "%%%02x", b)
		fmt.Fprintf(&hex, "%02x", b)
		fmt.Fprintf(&entities, "&#%d;", b)
	}
	reversed := []byte(part)
	slices.Reverse(reversed)
	quoted := strconv.Quote(part)
	return []string{part, percent.String(), hex.String(), entities.String(), string(reversed),
		url.QueryEscape(part), html.EscapeString(part), quoted[1 : len(quoted)-1],
		base64.StdEncoding.EncodeToString([]byte(part))[:8]}
}
