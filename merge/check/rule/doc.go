// Package rule says what a rule is: its codes, what it reads, and what it finds.
package rule
