//go:build !race

package iketest

const slowed = false
