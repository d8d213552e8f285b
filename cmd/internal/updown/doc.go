// Package updown runs the scripts that the configuration names for when a CHILD_SA comes up and goes down (updown,
// leftupdown), with the environment that strongSwan's have.
//
// A script runs once for each pair of traffic selectors, in the order of events for one tunnel, and beside those of
// other tunnels. Nothing waits for it but the end of the daemon, and that in bounded time.
package updown
