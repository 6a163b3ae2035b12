package sqldb_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

// authority signs certificates for one test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.file, _ = a.sign(t, name, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	})
	return a
}

// sign makes a certificate and its key, and returns their files. The first one
// is that of the authority itself.
func (a *authority) sign(t *testing.T, name string, change func(*x509.Certificate)) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	change(c)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert == nil {
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
		a.key = key
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(a.dir, name+" cert.pem"), filepath.Join(a.dir, name+" key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// A connection is encrypted, and both sides show and verify certificates of a
// private authority, as the DSN says. A DSN that is wrong is told what is right.
func TestTLS(t *testing.T) {
	ca, stranger := newAuthority(t, "ca"), newAuthority(t, "stranger")
	cert, key := ca.sign(t, "server", func(c *x509.Certificate) { c.DNSNames = []string{"db.example"} })
	options := []string{"--ssl-ca=" + ca.file, "--ssl-cert=" + cert, "--ssl-key=" + key}
	server := servertest.Private(t, options...).DSN()
	clientCert, clientKey := ca.sign(t, "client", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} })
	strangeCert, strangeKey := stranger.sign(t, "client", func(*x509.Certificate) {})
	admin, err := sql.Open("mysql", server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, s := range []string{
		"CREATE DATABASE d",
		"CREATE USER 'plain'@'%' IDENTIFIED BY 'pw'", "CREATE USER 'ssl'@'%' IDENTIFIED BY 'pw' REQUIRE SSL", "CREATE USER 'x509'@'%' IDENTIFIED BY 'pw' REQUIRE X509",
		"GRANT ALL ON d.* TO 'plain'@'%'", "GRANT ALL ON d.* TO 'ssl'@'%'", "GRANT ALL ON d.* TO 'x509'@'%'",
	} {
		if _, err := admin.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := mysql.ParseDSN(server)
	if err != nil {
		t.Fatal(err)
	}
	trusted, certified := "tls-ca="+ca.file+"&tls-server-name=db.example", "tls-cert="+clientCert+"&tls-key="+clientKey
	const notRegistered = "tls in the DSN refers to a TLS configuration that a program would have to register: want tls=true"
	for _, tt := range []struct{ user, parameters, wantErr string }{
		{"plain", "", ""},
		{"plain", trusted, ""},
		{"plain", "tls=true&" + trusted + "&timeout=5s", ""},
		{"plain", "tls=skip-verify", ""},
		{"plain", strings.ReplaceAll(trusted, "/", "%2F"), ""},
		{"plain", "tls=true", `the server's certificate is not for "127.0.0.1"`},
		{"plain", "tls-server-name=db.example&tls=true", "the server's certificate is not trusted: add tls-ca=FILE to the DSN"},
		{"plain", "tls-server-name=db.example", "the server's certificate is not trusted: add tls-ca=FILE to the DSN"},
		{"plain", "tls-ca=" + stranger.file + "&tls-server-name=db.example", "the server's certificate is not trusted"},
		{"plain", "tls-ca=" + ca.file, `the server's certificate is not for "127.0.0.1": use the host name in the certificate, or add tls-server-name=NAME to the DSN`},
		{"ssl", "", "or the account must use TLS (REQUIRE SSL): then add tls=true to the DSN"},
		{"ssl", trusted, ""},
		{"x509", trusted, "or the account needs another client certificate (REQUIRE X509"},
		{"x509", trusted + "&" + certified, ""},
		{"x509", "tls=skip-verify&" + certified, ""},
		{"x509", trusted + "&tls-cert=" + strangeCert + "&tls-key=" + strangeKey, " "},
		{"plain", "tls=custom", notRegistered},
		{"plain", "tls=custom&" + trusted, notRegistered},
		{"plain", "tls=false&" + trusted, "the DSN has tls=false, but a certificate needs TLS: want tls=true"},
		{"plain", "tls=skip-verify&" + trusted, "the DSN has tls=skip-verify, which checks no certificate, and tls-ca or tls-server-name"},
		{"plain", trusted + "&tls-cert=" + clientCert, "the DSN has only one of tls-cert and tls-key: want both"},
		{"plain", "tls-ca=", "tls-ca in the DSN has no value"},
		{"plain", "tls-ca=a&tls-ca=b", "tls-ca is in the DSN twice"},
		{"plain", "tls-ca=/no/such.pem", "tls-ca: \"/no/such.pem\": open /no/such.pem: no such file"},
		{"plain", "tls-ca=" + clientKey, "it has no certificate: want PEM"},
		{"plain", "tls-cert=" + clientCert + "&tls-key=" + strangeKey, "private key does not match public key"},
	} {
		dsn := "mysql:" + tt.user + ":pw@tcp(" + cfg.Addr + ")/d?" + tt.parameters
		if tt.parameters == "" {
			dsn = strings.TrimSuffix(dsn, "?")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		db, err := sqldb.Dial(ctx, dsn, sqldb.ReadOnly)
		if err == nil {
			var row struct {
				Name  string `db:"Variable_name"`
				Value string `db:"Value"`
			}
			err = db.Get(ctx, &row, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
			db.Close()
			if encrypted := row.Value != ""; err == nil && encrypted != (tt.parameters != "") {
				t.Errorf("%s %s: the cipher is %q", tt.user, tt.parameters, row.Value)
			}
		}
		if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
			t.Errorf("%s %s: %v, want %q", tt.user, tt.parameters, err, tt.wantErr)
		}
		if s, ok := sqldb.ParseServer(dsn); tt.wantErr == "" && (!ok || s.Database != "d") {
			t.Errorf("%s: it leads to %+v, %t", tt.parameters, s, ok)
		}
		if shown := sqldb.Redact(dsn); strings.Contains(shown, "pw@") {
			t.Errorf("shown as %s", shown)
		}
	}
}

// A file of certificates may have been named like a password: then its name is not shown, also if
// there is such a file and it has none in it.
func TestCertificatesAreNotShown(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"g:hUnt3r", "ca.pem"} {
		must(t, os.WriteFile(name, []byte("none"), 0o600))
		_, err := sqldb.Open("mysql:g:x@tcp(127.0.0.1:1)/a?tls-ca="+name, sqldb.ReadWrite)
		if err == nil || !strings.Contains(err.Error(), "want") || strings.Contains(err.Error(), "hUnt3r") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
