package config

import (
	"fmt"
	"regexp"
	"strings"

	"mergesafe/internal/strict"
)

// held is a secret that the file holds, or the name of an environment variable
// that holds it. The zero held is one that the file does not mention.
type held struct {
	secret Secret
	env    string
	at     strict.Error // where the file says so
}

// form is what a secret has to look like.
type form struct {
	name  string // what it is: "a ..."
	want  string // what would be right
	valid func(string) bool
}

// readHeld reads the key of that name, or the one with "_env" behind it: one of
// them must be there.
func readHeld(s *strict.Section, name string, f form) held {
	h := readOptional(s, name, f)
	s.One(name, name+"_env")
	if env := name + "_env"; !s.Has(name) && !s.Has(env) && !s.Asked() {
		s.Lacks(name, "%s; or %s with the name of an environment variable that holds it", f.want, env)
	}
	return h
}

// readOptional is readHeld of a secret that need not be there.
func readOptional(s *strict.Section, name string, f form) held {
	s.Secret(name, name+"_env") // whose problems quote nothing
	check := func(text string) string {
		if f.valid(text) {
			return ""
		}
		return "is not a " + f.name + ": " + f.want
	}
	env := name + "_env"
	h := held{NewSecret(s.Text(name, check)), s.Text(env, envName), s.At(name)}
	if s.Has(env) {
		h.at = s.At(env)
		if s.Has(name) {
			s.Problem(env, "and %s are both there: want one of them", name)
		}
	}
	return h
}

var envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func envName(s string) string {
	if !envPattern.MatchString(s) {
		return "is not the name of an environment variable: want letters, digits and _, with no $ in front"
	}
	return ""
}

// find returns the secret, from the environment if it is there.
func (h held) find(lookup func(name string) (value string, ok bool), f form) (Secret, error) {
	if h.env == "" {
		return h.secret, nil
	}
	value, problem := fromEnv(h.env, lookup, f)
	if problem != "" {
		return Secret{}, h.error(fmt.Sprintf("names the environment variable %s, which %s", h.env, problem))
	}
	return value, nil
}

func (h held) error(problem string) error {
	h.at.Problem = problem
	return &h.at
}

// fromEnv returns what an environment variable holds, or what is wrong with it.
func fromEnv(name string, lookup func(string) (string, bool), f form) (_ Secret, problem string) {
	value, ok := lookup(name)
	switch {
	case !ok:
		problem = "is not set"
	case value == "":
		problem = "is empty"
	case !f.valid(value):
		problem = "holds no " + f.name + ": " + f.want
	default:
		return NewSecret(value), ""
	}
	return Secret{}, problem
}

const wantDSN = `want "sqlite:" and the path of a file, or "mysql:" and user:password@tcp(host:port)/database, or postgres://user:password@host:port/database`

var dsnForm = form{"DSN", wantDSN, isDSN}

// accountForm is that of an account of MySQL. The driver takes what stands before the first
// colon for the user.
var accountForm = form{"pair of user and password", `want user:password`, func(s string) bool {
	user, _, ok := strings.Cut(s, ":")
	return ok && user != "" && !strings.ContainsAny(user, "@(/")
}}

func isDSN(s string) bool {
	scheme, rest, _ := strings.Cut(s, ":")
	switch scheme {
	case "sqlite", "mysql":
		return rest != ""
	case "postgres", "postgresql":
		return strings.HasPrefix(rest, "//")
	}
	return false
}
