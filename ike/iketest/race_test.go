//go:build race

package iketest

// slowed is whether the race detector makes everything several times slower. It finds nothing in runs
// that have one goroutine each, so that fewer of them do.
const slowed = true
