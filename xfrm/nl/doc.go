// Package nl implements xfrm.Kernel over netlink.
//
// The XFRM family has a codec of its own here, because no library covers what an
// IKE daemon needs (outbound ESN on kernels that know directions, ESN on
// read-back, acquire and mapping events). Links and addresses go through
// vishvananda/netlink; events of both come from sockets of their own.
package nl
