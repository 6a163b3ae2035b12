// Package agenda is the campaign file: which worlds become one, when and how, and the hooks that are
// told and asked meanwhile.
package agenda
