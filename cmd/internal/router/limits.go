package router

import "time"

const (
	// DefaultHold is how long the first kernel writes wait for End-of-RIB.
	DefaultHold = 5 * time.Second
	// DefaultRestartHold is the same where an earlier router's routes are in
	// the kernel: they serve until the neighbours are back, some of which rest
	// for 5 s after a lost session.
	DefaultRestartHold = 10 * time.Second
	// DefaultStaleTime is how long the routes of an earlier router are kept
	// for neighbours that do not come back; the restart time that is asked of
	// them is the same.
	DefaultStaleTime = 120 * time.Second
	// DefaultMaxPaths bounds the next hops of one route.
	DefaultMaxPaths = 16

	// tick is how often deadlines are looked at and a changed status is sent.
	tick = 250 * time.Millisecond
	// reportShare: a status is sent so rarely that making it takes at most one
	// part in this many of the router's time.
	reportShare = 20
	// peerInterval is how often BGP is asked for the state of its neighbours.
	peerInterval = 2 * time.Second
	// retryInterval is how often failed routes and unknown gateways are tried again.
	retryInterval = 10 * time.Second

	// writeChunk is how many prefixes are written before the next look at
	// links: a lost leg waits for no more than that.
	writeChunk = 4096

	// logQueue is how many log records may wait for the keying process; more
	// are counted and dropped.
	logQueue = 1024
	// flushTimeout bounds the wait for the last records to leave.
	flushTimeout = time.Second
)
