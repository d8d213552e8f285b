// Package routing programs the routes of a router into a Linux kernel: one
// nexthop object per leg, one nexthop group per distinct set of legs, and
// prefixes that point at groups. Losing a leg then costs one message per
// group, however many prefixes there are.
//
// A Manager holds the desired state and what it knows of the kernel, computes
// the difference and writes it in batches. It is owned by one goroutine: none
// of its methods may be called concurrently. The goroutine reads
// Kernel.Events and feeds them to Manager.HandleEvent.
//
// # What is ours
//
// Every object carries protocol 186 (RTPROT_BGP). Nexthop objects have IDs in
// [MinNexthopID, MaxNexthopID]; a route is ours if it has protocol 186 and
// points at such an ID, or is a guard (blackhole or unreachable) with
// Config.GuardMetric. Without nexthop objects, a unicast route of protocol
// 186 with Config.Metric is ours. Nothing else in the kernel is changed or
// removed: a foreign route of the same prefix, table and metric makes ours
// fail with a ForeignRouteError that names it.
//
// # Down legs
//
// A leg is usable while its interface is up with carrier and nobody holds it
// down (LegDown). The kernel deletes a nexthop object when its link goes down,
// shrinks the groups it was in, deletes a group that becomes empty, and the
// routes with it; it restores nothing when the link comes back. The Manager
// re-creates what is missing. A route whose last leg is gone leaves the
// kernel, so that the guard takes its packets.
//
// # Recursion
//
// A route over a tunnel that would become the longest match of the tunnel's
// own outer endpoint would send ESP packets into the tunnel that made them.
// The tunnel legs of such a route are refused for as long as no more
// specific route covers the endpoint in the same table (Policy). The
// same check keeps protected prefixes on tunnels: legs over other interfaces
// are left out.
package routing
