// Package scenario shows, on a real kernel and against strongSwan, FRR and BIRD,
// what a user of ipsecd relies on. Its tests have the build tag lab and run with
// 'make lab'; a file holds the scenarios of one promise:
//
//	peers_test.go       the lab itself: charon against charon
//	matrix_test.go      suites, roles, PFS, NAT and IPv6
//	net2net*_test.go    scenarios of strongSwan's test suite (docs/scenarios.md)
//	kernel_test.go      the XFRM codec against the kernel
//	percpu_test.go      a CHILD_SA for each CPU
//	stroke*_test.go     those that are configured by ipsec.conf
//	examples_test.go    the configurations of examples/
//	fault*_test.go      what goes wrong in the field (docs/faults.md)
//	virtual_test.go     virtual addresses, and what updown scripts are told
//	numbers_test.go     marks and if_ids of %unique
//	deadpeer_test.go    dead peers, start_action and reloads
//	reload_test.go      one connection of a hundred is edited
//	rekey_test.go       rekeys by either side and by both, under load
//	cert_test.go        certificates and signatures of every kind
//	deployment_test.go  eight tunnels, nine BGP sessions, ECMP, throughput
//	failover_test.go    a tunnel dies and comes back
//	leak_test.go        nothing protected leaves in the clear
//	kill_test.go        kill -9 of the router process and of ipsecd
//	errors_test.go      one clear error for each mistake
//	counters_test.go    counters agree, keys appear nowhere
//	demo_test.go        the deployment, told to a reader
//
// Tests whose names begin with TestNewKernel run on the kernel of a later Debian.
//
// With LAB_US=charon strongSwan plays our side too, wherever a scenario does not
// ask for something that only ipsecd has: a failure that stays is the lab's.
package scenario
