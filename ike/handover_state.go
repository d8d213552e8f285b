package ike

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// The types below are what goes from one engine to the other, encoded by encoding/gob: another version of the program
// ignores fields that it does not know, and finds those that it misses zero. They hold keys, and exist for as long as
// the encoding takes.

// handoverVersion changes when an older program would misunderstand a newer one's state.
const handoverVersion = 1

type handedState struct {
	Version     int
	Taken       time.Time
	IKE, Child  uint32 // the last IDs given out
	ReqID       uint32
	Mark, IfID  uint32
	Connections []handedConnection
	Pools       []handedPool
	SAs         []handedSA
}

type handedPool struct {
	Name   string
	Fresh  uint32
	Leases []handedLease // those offline in their order
}

type handedLease struct {
	Addr    netip.Addr
	ID      auth.Identity
	Offline bool
}

// handedVirtual has the peer's leases by their pools' names.
type handedVirtual struct {
	Local, DNS []netip.Addr
	Pools      []string
	Leases     []netip.Addr
	LeasedTo   netip.AddrPort
}

type handedConnection struct {
	Name     string
	Peer     netip.Addr         // of one of Peers
	Source   netip.Addr         // and of the traffic that asked for it
	Peers    []handedConnection // where the connection is for any
	Virtual  []netip.Addr
	Stopped  bool
	UpSince  moment
	Children []handedWant
}

type handedWant struct {
	Name    string
	ReqID   uint32
	Stopped bool
	Asked   asking
	Up      bool
	Trap    *ChildSA // without its configuration
}

type handedSA struct {
	ID                                   uint32
	Connection                           string
	Peer                                 netip.Addr // whose part of the connection it belongs to; invalid: there are none
	Initiator                            bool
	SPIi, SPIr                           wire.SPI
	Local, Remote                        netip.AddrPort
	ToldLocal, ToldRemote                netip.AddrPort
	NATT, NATLocal, NATRemote            bool
	ForceEncap, PPK                      bool
	IfIDIn, IfIDOut                      uint32
	PeerFragments                        bool
	PeerChildless                        bool
	PeerRedirects                        bool
	Mobike                               handedMobike
	Virtual                              handedVirtual
	LocalID, RemoteID                    auth.Identity
	Proposal                             suite.Proposal
	Keys                                 [5][]byte // as in secretsOf
	IVs                                  uint64
	NonceMin                             []byte
	NextIn, NextOut                      uint32
	Last, First                          packetHash
	Init                                 initHash
	Response                             [][]byte
	Confirmed                            bool
	Begun, Established, Proved           moment
	LastInbound, LastESP, Sent           moment
	ReauthAt, ReauthUntil                moment
	ReauthTries                          int
	Rekey, Expire, Reauth, Alive, Gather moment // timers
	Children                             []handedChild
}

type handedMobike struct {
	On, Leads, NATT bool
	Peer, Told      []netip.Addr
	Proven          netip.Addr
	NATSeen         []byte
}

type handedChild struct {
	Child           string
	Info            ChildSA // without its configuration
	Proposal        suite.Proposal
	NonceMin        []byte
	Installed       moment
	LastIn, LastOut uint64
	LastUse         moment
	Rekey, Expire   moment // timers
	Inactive        moment
}

// moment is a time relative to that of the handover: the two processes have no monotonic clock in common. The zero value is the zero time.
type moment struct {
	Set   bool
	After time.Duration
}

func (e *Engine) moment(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return moment{true, t.Sub(e.now)}
}

// at returns the time in this engine.
func (e *Engine) at(m moment) time.Time {
	if !m.Set {
		return time.Time{}
	}
	return e.now.Add(m.After)
}

// secretsOf returns the keys that an established IKE SA needs, in the order of RFC 7296 section 2.14.
func secretsOf(k suite.Keys) [5]suite.Key {
	return [5]suite.Key{k.SKd, k.SKai, k.SKar, k.SKei, k.SKer}
}

// encode writes the state.
func (s *handedState) encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return nil, fmt.Errorf("encoding the IKE SAs: %w", err)
	}
	return b.Bytes(), nil
}

func decodeHandover(data []byte) (*handedState, error) {
	var s handedState
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, fmt.Errorf("decoding the IKE SAs: %w", err)
	}
	if s.Version != handoverVersion {
		return nil, fmt.Errorf("the IKE SAs are in version %d of the format, and this program knows version %d", s.Version, handoverVersion)
	}
	return &s, nil
}
