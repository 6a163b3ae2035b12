//go:build !race

package transfer

const rekeyCasesByDefault = 200
