// Package live serves the page of a campaign: what happens now, at a glance.
package live
