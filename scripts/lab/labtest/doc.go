// Package labtest is what the lab's scenarios are written with: network
// namespaces that play the hosts, daemons that run in them, and eyes on what
// the kernel and the wire did.
//
// Everything here needs root and a kernel with ESP and xfrm interfaces. Helpers
// take the testing.TB first, fail it themselves, and undo what they did when it
// ends. Time in the virtual machine is real time on a loaded host: waits are for
// a condition, with a generous deadline, never for a duration.
package labtest
