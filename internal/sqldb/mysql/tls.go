package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// The parameters of a DSN of MySQL that are ours: go-sql-driver takes these
// things only from a program. With one of them, the connection is encrypted and
// the server's certificate is verified, unless tls=skip-verify says otherwise.
const (
	tlsCA         = "tls-ca"          // a PEM file with the certificates that are trusted, in the place of the system's
	tlsCert       = "tls-cert"        // a PEM file with the certificate that the account shows
	tlsKey        = "tls-key"         // a PEM file with its key
	tlsServerName = "tls-server-name" // the name in the server's certificate, if it is not the host of the DSN
)

const wantTLS = "want tls=true, tls=skip-verify, tls=preferred or tls=false; certificates are given by tls-ca=FILE, tls-cert=FILE, tls-key=FILE and tls-server-name=NAME"

// certificates are the values of our parameters.
type certificates map[string]string // by parameter

// splitCertificates takes our parameters out of a DSN of MySQL. Their values may be
// escaped or not.
func splitCertificates(dsn string) (rest string, files certificates, err error) {
	address := max(strings.LastIndex(dsn, ")/"), 0)
	question := strings.Index(dsn[address:], "?")
	if question < 0 {
		return dsn, nil, nil
	}
	question += address
	var others []string
	for pair := range strings.SplitSeq(dsn[question+1:], "&") {
		key, value, _ := strings.Cut(pair, "=")
		if !slices.Contains([]string{tlsCA, tlsCert, tlsKey, tlsServerName}, key) {
			others = append(others, pair)
			continue
		}
		value, err := url.PathUnescape(value)
		switch {
		case err != nil || value == "":
			return "", nil, fmt.Errorf("%s in the DSN has no value, or one that is not escaped correctly: write %% as %%25 and & as %%26", key)
		case files[key] != "":
			return "", nil, fmt.Errorf("%s is in the DSN twice: want it once", key)
		case files == nil:
			files = make(certificates)
		}
		files[key] = value
	}
	rest = dsn[:question]
	if len(others) > 0 {
		rest += "?" + strings.Join(others, "&")
	}
	return rest, files, nil
}

// checkTLS returns an error if the parameter tls is none that a DSN can have. The
// driver would not say which.
func checkTLS(dsn string) error {
	_, query, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil // the driver says so
	}
	for _, value := range values["tls"] {
		if !slices.Contains([]string{"true", "1", "false", "0", "skip-verify", "preferred"}, strings.ToLower(value)) {
			return errors.New("tls in the DSN refers to a TLS configuration that a program would have to register: " + wantTLS)
		}
	}
	return nil
}

// apply makes cfg verify and show certificates as the files say.
func (files certificates) apply(cfg *mysql.Config) error {
	if len(files) == 0 {
		return nil
	}
	to := &tls.Config{ServerName: files[tlsServerName], MinVersion: tls.VersionTLS12}
	switch strings.ToLower(cfg.TLSConfig) {
	case "", "true", "1":
	case "skip-verify":
		if files[tlsCA] != "" || files[tlsServerName] != "" {
			return fmt.Errorf("the DSN has tls=skip-verify, which checks no certificate, and %s or %s: remove one of them", tlsCA, tlsServerName)
		}
		to.InsecureSkipVerify = true
	default:
		return fmt.Errorf("the DSN has tls=%s, but a certificate needs TLS: want tls=true", cfg.TLSConfig)
	}
	if !sqldb.IsPlain(to.ServerName) {
		return fmt.Errorf("%s is not a host name: want the name in the server's certificate", tlsServerName)
	}
	if (files[tlsCert] == "") != (files[tlsKey] == "") {
		return fmt.Errorf("the DSN has only one of %s and %s: want both, the certificate and its key", tlsCert, tlsKey)
	}
	if file := files[tlsCA]; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return unreadable(err, tlsCA, file)
		}
		to.RootCAs = x509.NewCertPool()
		if !to.RootCAs.AppendCertsFromPEM(pem) {
			return unreadable(errors.New("it has no certificate: want PEM, which begins with -----BEGIN CERTIFICATE-----"), tlsCA, file)
		}
	}
	if files[tlsCert] != "" {
		pair, err := tls.LoadX509KeyPair(files[tlsCert], files[tlsKey])
		if err != nil {
			return unreadable(err, tlsCert+" and "+tlsKey, files[tlsCert], files[tlsKey])
		}
		to.Certificates = []tls.Certificate{pair}
	}
	cfg.TLS = to
	return nil
}

// unreadable is an error of reading the files of a parameter, whose paths are shown if they are plain.
func unreadable(err error, parameter string, paths ...string) error {
	for i, path := range paths {
		if paths[i] = strconv.Quote(path); !sqldb.IsPlainPath(path) {
			return fmt.Errorf("%s: the file cannot be read; its name is hidden because it may be a password: want the path of a PEM file", parameter)
		}
	}
	return fmt.Errorf("%s: %s: %w", parameter, strings.Join(paths, " and "), err)
}

// explainTLS says what to do about a certificate of the server that is not
// trusted; nil for another error.
func explainTLS(err error) error {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("the server's certificate is not for %q: use the host name in the certificate, or add %s=NAME to the DSN: %w", e.Host, tlsServerName, err)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the server's certificate is not trusted: add %s=FILE to the DSN, with the certificate of the authority that signed it: %w", tlsCA, e)
	}
	if errors.Is(err, mysql.ErrNoTLS) {
		return fmt.Errorf("the server does not encrypt connections, but the DSN requires it: %w", err)
	}
	return nil
}
