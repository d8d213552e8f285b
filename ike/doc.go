// Package ike is a sans-I/O IKEv2 engine (RFC 7296): packets, events and the
// time go in, actions come out. Nothing in it blocks, sleeps, reads a clock,
// opens a socket or touches the kernel, so that a simulator drives it exactly
// as a daemon does.
//
// An Engine belongs to one goroutine. Readers on other goroutines use the
// immutable Snapshot that Engine.Snapshot returns.
package ike
