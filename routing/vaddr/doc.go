// Package vaddr keeps virtual addresses, which peers have assigned to us, on the host's links. An address is there as long as
// somebody wants it, on the link that has the outer address of the one that does.
//
// The addresses are single hosts' and deprecated, so that the kernel chooses none of them by itself: routes and programs name
// them. Since Linux 5.18 they bear a protocol number by which those that an earlier run left are found.
package vaddr

// Protocol marks the addresses that are ours.
const Protocol = 0x69
