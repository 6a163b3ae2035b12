// Package read answers the questions of rules from rows. It knows how columns compare, and leaves
// to the rules what the answers mean.
package read
