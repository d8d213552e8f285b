package ike

import (
	"github.com/ipsecd/ipsecd/ike/wire"
)

// message is a message of a peer: after verification, when it is protected.
type message struct {
	wire.Header
	packet     Packet
	hash       packetHash
	fragmented bool           // it came in fragments, of which the first tells it from others
	payloads   []wire.Payload // decrypted
	whole      []byte         // as RFC 9242 section 3.3.2 authenticates it; of IKE_INTERMEDIATE only
}

// find returns the first payload of a Go type, or its zero value.
func find[T wire.Payload](m *message) T {
	p, _ := wire.First[T](m.payloads)
	return p
}

// notify returns the first notification of a type, or nil.
func (m *message) notify(t wire.NotifyType) *wire.Notify {
	return wire.FirstNotify(m.payloads, t)
}

// error returns the first error notification, or nil.
func (m *message) error() *wire.Notify { return wire.FirstError(m.payloads) }

// id returns the first identification payload of a type, or nil.
func (m *message) id(t wire.PayloadType) *wire.Identification {
	for p := range wire.All[*wire.Identification](m.payloads) {
		if p.PayloadType == t {
			return p
		}
	}
	return nil
}

// selectors returns the first traffic selector payload of a type, or nil.
func (m *message) selectors(t wire.PayloadType) *wire.TrafficSelectors {
	for p := range wire.All[*wire.TrafficSelectors](m.payloads) {
		if p.PayloadType == t {
			return p
		}
	}
	return nil
}

// notification makes a notification about nothing in particular.
func notification(t wire.NotifyType, data []byte) *wire.Notify {
	return &wire.Notify{NotifyType: t, Data: data}
}
