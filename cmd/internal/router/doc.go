// Package router is the router process: it turns what BGP learns into kernel
// routes over the tunnels.
//
// The keying process starts it and sends it a configuration over a socket pair
// (package routerproto); status and log go back. What it acts upon is the
// kernel: a tunnel's interface is up while its Child SA is installed, and a
// link that goes down is left with one update for each group of next hops,
// whatever BGP knows by then.
//
// # A life
//
// First the guard routes: from then on a protected prefix is either on a tunnel
// or discarded. Then BGP starts, and its routes wait for the neighbours'
// End-of-RIB or a deadline (PhaseHold), so that the routes of an earlier router
// are not taken apart while its sessions come back. Then they are written
// (PhaseReconcile), and once every neighbour has sent its End-of-RIB, or its
// time is over, what is left of the earlier router is removed (PhaseRun).
//
// The router leaves without a word: routes stay in the kernel, guards too, and
// no session ends with a Cease, so that neighbours keep their routes for the
// next router (RFC 4724). It leaves when the keying process closes the socket.
//
// # Protected prefixes
//
// A neighbour that is not behind a tunnel cannot announce a protected prefix:
// package bgp refuses it before selection, this package leaves out any next hop
// that is not on a tunnel, and package routing checks once more.
package router
