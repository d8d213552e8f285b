// Package daemon is the glue of the keying process: it owns the sockets, runs
// the engine's loop, carries its actions out in the kernel and supervises the
// router process. It is the only place of that process where time, randomness,
// network and kernel are real.
package daemon
