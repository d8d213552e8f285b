// Package xfrm describes what the daemon wants from the kernel's IPsec stack
// (ip-xfrm(8)): security associations, policies and XFRM interfaces, as
// desired state.
//
// The kernel is reconciled, not scripted. The daemon builds a [State], compares
// it by [Diff] with what [Dump] found (or with the State it applied before) and
// hands the ordered changes to [Apply], which reports truthfully what took
// effect. Objects that do not belong to the daemon ([Owner]) are never changed
// or deleted.
//
// The package itself performs no I/O. Package xfrm/nl implements [Kernel] over
// netlink, package xfrm/xfrmtest in memory for tests.
//
// # Sequence numbers and directions
//
// An inbound SA always has a replay window; [SA.Check] refuses one without,
// because the zero value would silently switch replay protection off. An
// outbound SA has none in the desired state; where an old kernel insists on one
// for extended sequence numbers, package xfrm/nl supplies it.
//
// # MTU and MSS
//
// An interface's MTU is set on its link. TCP segment sizes of forwarded
// connections follow from it through path MTU discovery. Clamping the MSS option
// itself is a packet filter's work: [Interface.MSS] carries the wish for the
// component that installs routes (as advmss, for connections that start or end
// on this host) or filter rules; this package does not act on it.
package xfrm
