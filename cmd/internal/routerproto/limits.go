package routerproto

import "time"

const (
	// Version is the protocol's. Both processes are one binary, so that a
	// different version means an upgrade in progress: the reader gives up and
	// the supervisor starts the new one.
	Version = 1

	// FD is the descriptor on which the router process finds its socket.
	FD = 3

	// MaxFrame bounds the JSON of one message, in bytes.
	MaxFrame = 16 << 20

	// MaxStatusRoutes bounds the routes listed in a Status; Status.Counters has
	// the full number.
	MaxStatusRoutes = 10000

	// MaxStatusRefused bounds the refused prefixes listed for one neighbour.
	MaxStatusRefused = 100

	// StatusInterval is the longest time between two Status messages.
	StatusInterval = 5 * time.Second
)
