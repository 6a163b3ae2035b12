package live

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets the page load what this program serves, and nothing else. Inline scripts and
// styles do not run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store, no-transform")
}

// knownHost tells whether a request names this machine, the address that it came to, or one
// of the names that were given. A page of another site that lets its own name lead to this
// machine names itself there.
func (h *Handler) knownHost(r *http.Request) bool {
	host := strings.ToLower(hostOf(r.Host))
	if host == "localhost" || slices.ContainsFunc(h.options.Hosts, func(name string) bool { return strings.EqualFold(hostOf(name), host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ip.IsLoopback() || local != nil && addressOf(local) == ip.Unmap()
}

// hostOf takes the port and the brackets off.
func hostOf(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
}

func addressOf(a net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// mayRead tells whether a request has the token: as a password, which a browser asks for, or
// in a header.
func (h *Handler) mayRead(r *http.Request) bool {
	if _, password, ok := r.BasicAuth(); ok {
		return h.isToken(password)
	}
	return h.mayAct(r)
}

// mayAct tells whether a request has the token in a header that no other site can make a
// browser send.
func (h *Handler) mayAct(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && h.isToken(token)
}

// isToken compares in a time that tells nothing of the token, its length included.
func (h *Handler) isToken(s string) bool {
	got, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(h.options.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && h.options.Token != ""
}
