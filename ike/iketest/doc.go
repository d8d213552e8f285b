// Package iketest simulates a network of IKEv2 engines: virtual time, seeded
// randomness, links that lose, delay, duplicate, reorder and corrupt messages,
// NATs, and a kernel in memory on each host. What one seed did, it does again.
//
// A Net holds hosts; NewPair makes the usual two. The Net runs until a time or a
// condition, and checks after every step of an engine what must always hold:
//
//   - the CHILD_SAs of both kernels fit together, keys included;
//   - while GuardTraffic is on, whatever one host would send the other can decrypt;
//   - a retransmission is bitwise identical, an IV is never used twice, and there
//     is one outstanding request per side (RFC 7296 sections 2.1 to 2.3);
//   - a message that was corrupted under way changes nothing;
//   - nothing is installed twice, removed twice or forgotten in the kernel;
//   - timers make progress, and no engine caught a panic.
//
// The first violation stops the run. Err returns it together with a readable trace:
//
//	12.004 A->B CREATE_CHILD_SA request id=3 #17 [lost]
//
// A Fault meets one message, given by its number in the run, so that a test can lose,
// duplicate, delay and corrupt each single message in turn; Faults are random.
package iketest
