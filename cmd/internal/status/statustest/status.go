// Package statustest has a daemon's status to test its readers with.
package statustest

import (
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/xfrm"
)

// Now is when the status was taken.
var Now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Canary is a secret that the status' configuration holds and that nobody may
// show.
const Canary = "canary-psk-d41d8cd9"

// New returns the status of a gateway with these connections:
//
//	hq       child net up behind a NAT for 2d4h, in the middle of a rekey, with BGP
//	branch2  child net down for 4m, with the next try in 40s, BGP idle
//	lab      child a up, child b being set up
//	new      without children, its IKE SA being set up
func New() *status.Status {
	hq, branch2 := routeBased("hq", "203.0.113.7", 1), routeBased("branch2", "198.51.100.9", 2)
	lab := connection("lab", "192.0.2.77", policyChild("a", "10.1.0.0/16", "10.2.0.0/16"), policyChild("b", "10.1.0.0/16", "10.3.0.0/16"))
	added := connection("new", "192.0.2.99")
	conns := []*ike.Connection{hq, branch2, lab, added}
	return &status.Status{
		Started: Now.Add(-53 * time.Hour),
		Version: "1.2.3",
		Config: &config.Config{
			IKE:        ike.Config{Connections: conns, Secrets: []auth.Secret{{Name: "ike-hq", Key: suite.NewKey([]byte(Canary))}}},
			Interfaces: []config.Interface{{Name: "hq", IfID: 1}, {Name: "branch2", IfID: 2}},
			BGP:        &config.BGP{AS: 65515, Neighbors: []config.Neighbor{{Name: "hq", Password: Canary}}},
		},
		Engine: &ike.Snapshot{
			Taken:    Now,
			IKESAs:   []ike.IKESAInfo{hqSA(hq), labSA(lab), newSA()},
			Counters: counters(),
			Connections: []ike.ConnectionInfo{
				{Config: hq},
				{Config: branch2, LastError: "IKE_SA_INIT: no answer", ErrorAt: Now.Add(-4 * time.Minute), Tries: 5, NextTry: Now.Add(40 * time.Second)},
				{Config: lab},
				{Config: added},
			},
		},
		Traps: []status.Trap{
			{ChildName: status.ChildName{Connection: "lab", Child: "a"}, ReqID: 2, LocalTS: selector("10.1.0.0/16"), RemoteTS: selector("10.2.0.0/16")},
			{ChildName: status.ChildName{Connection: "lab", Child: "b"}, ReqID: 3, LocalTS: selector("10.1.0.0/16"), RemoteTS: selector("10.3.0.0/16")},
		},
		Traffic: map[uint32]status.Traffic{
			7: {BytesIn: 600, PacketsIn: 6, BytesOut: 400, PacketsOut: 4, LastIn: Now.Add(-30 * time.Second), LastOut: Now.Add(-30 * time.Second)},
			8: {BytesIn: 1500, PacketsIn: 15, BytesOut: 840, PacketsOut: 10, LastIn: Now.Add(-time.Second), LastOut: Now.Add(-2 * time.Second)},
		},
		Totals: map[status.ChildName]status.Totals{
			{Connection: "hq", Child: "net"}:      {BytesIn: 1_234_567_890, PacketsIn: 1_000_000, BytesOut: 829_500_000, PacketsOut: 900_000, LastIn: Now.Add(-time.Second), LastOut: Now.Add(-2 * time.Second)},
			{Connection: "branch2", Child: "net"}: {BytesIn: 42, PacketsIn: 1, LastIn: Now.Add(-4 * time.Minute)},
		},
		UpSince: map[status.ChildName]time.Time{{Connection: "hq", Child: "net"}: Now.Add(-52 * time.Hour)},
		Kernel: status.Kernel{
			SocketDrops: 9,
			States:      5,
			Policies:    append(labPolicies(), xfrm.Protect([]netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}, []string{"hq"})...),
			Errors:      map[string]uint64{"XfrmInNoStates": 2, "XfrmOutNoStates": 0},
			Drift:       1,
		},
		Router:         router(),
		RouterRestarts: 1,
		Reload:         status.Reload{At: Now.Add(-time.Hour), OK: true, SuccessAt: Now.Add(-time.Hour)},
	}
}

func counters() ike.Counters {
	return ike.Counters{
		Messages: map[ike.MessageKey]uint64{
			{Exchange: "IKE_SA_INIT", Request: true}:                  10,
			{Exchange: "IKE_SA_INIT", Inbound: true}:                  2,
			{Exchange: "INFORMATIONAL", Inbound: true}:                3,
			{Exchange: "INFORMATIONAL", Inbound: true, Request: true}: 4,
		},
		Retransmits:      5,
		DuplicateRequest: 1,
		Invalid:          map[string]uint64{"integrity": 6, "unknown SPI": 2},
		Connections: []ike.ConnectionCounters{
			{Connection: "hq", ChildRekeys: 42, SAInit: ike.ExchangeCounters{OutRequests: 1, InResponses: 1}, Informational: ike.ExchangeCounters{InRequests: 3, OutResponses: 3}},
			{Connection: "lab", IKERekeysInitiated: 1},
		},
		Negotiations:    map[ike.NegotiationKey]uint64{{Initiator: true, OK: true}: 2, {Initiator: true}: 5},
		Rekeys:          map[ike.RekeyKey]uint64{{Child: true, Initiator: true, OK: true}: 40, {Child: true, OK: true}: 2, {OK: true}: 3},
		RekeyCollisions: 1,
		DPDTimeouts:     1,
		HalfOpen:        1,
	}
}

func proposal(p suite.Protocol, s string) suite.Proposal {
	out, err := suite.ParseProposal(p, s)
	if err != nil {
		panic(err)
	}
	return out
}
