package ike

import (
	"github.com/ipsecd/ipsecd/ike/wire"
)

// rule is one line of the table of legal messages.
type rule struct {
	states   []saState
	exchange wire.ExchangeType
	response bool
	// notify, if not 0, is a notification that a request must have for this
	// rule; protocol is the one of the SA payload.
	notify   wire.NotifyType
	protocol wire.ProtocolID
	required []wire.PayloadType // exactly once; in a response only if no error is reported
	optional []wire.PayloadType // others are ignored
	next     string             // state afterwards, where it changes
	story    string
	step     func(e *Engine, sa *ikeSA, m *message)
}

// inUse are the states in which an IKE SA takes the peer's requests.
var inUse = []saState{stateEstablished, stateRekeyed, stateDeleting}

// rules is the table. The first rule that fits counts. IKE_SA_INIT, which is not protected, is
// not in it: see initPayloads.
var rules []rule

func init() {
	// In init, since the steps refer to the table by way of dispatch.
	rules = []rule{
		{
			states: []saState{stateHalfOpen}, exchange: wire.ExchangeIntermediate,
			required: []wire.PayloadType{wire.PayloadKeyExchange},
			optional: []wire.PayloadType{wire.PayloadNotify, wire.PayloadVendorID},
			story:    "responder answers an additional key exchange", step: (*Engine).intermediateRequest,
		},
		{
			states: []saState{stateIntermediate}, exchange: wire.ExchangeIntermediate, response: true,
			required: []wire.PayloadType{wire.PayloadKeyExchange},
			optional: []wire.PayloadType{wire.PayloadNotify, wire.PayloadVendorID},
			next:     "INTERMEDIATE, or AUTH after the last", story: "initiator completes an additional key exchange", step: (*Engine).taskAnswer,
		},
		{
			states: []saState{stateHalfOpen}, exchange: wire.ExchangeAuth,
			required: []wire.PayloadType{wire.PayloadIDi},
			optional: []wire.PayloadType{wire.PayloadAuth, wire.PayloadIDr, wire.PayloadSA, wire.PayloadTSi, wire.PayloadTSr, wire.PayloadCertificate,
				wire.PayloadCertificateRequest, wire.PayloadConfiguration, wire.PayloadNotify, wire.PayloadVendorID},
			next: "ESTABLISHED, or gone", story: "responder checks the initiator's AUTH and answers with its own", step: (*Engine).authRequest,
		},
		{
			states: []saState{stateAuth}, exchange: wire.ExchangeAuth, response: true,
			required: []wire.PayloadType{wire.PayloadIDr, wire.PayloadAuth},
			optional: []wire.PayloadType{wire.PayloadSA, wire.PayloadTSi, wire.PayloadTSr, wire.PayloadCertificate,
				wire.PayloadConfiguration, wire.PayloadNotify, wire.PayloadVendorID},
			next: "ESTABLISHED, or gone", story: "initiator checks the responder's AUTH", step: (*Engine).taskAnswer,
		},
		{
			states: inUse, exchange: wire.ExchangeCreateChildSA, protocol: wire.ProtocolIKE,
			required: []wire.PayloadType{wire.PayloadSA, wire.PayloadNonce, wire.PayloadKeyExchange},
			optional: []wire.PayloadType{wire.PayloadNotify, wire.PayloadVendorID},
			next:     "REKEYED", story: "peer rekeys the IKE SA", step: (*Engine).rekeyIKERequest,
		},
		{
			states: inUse, exchange: wire.ExchangeCreateChildSA, notify: wire.NotifyRekeySA,
			required: []wire.PayloadType{wire.PayloadSA, wire.PayloadNonce, wire.PayloadTSi, wire.PayloadTSr},
			optional: []wire.PayloadType{wire.PayloadKeyExchange, wire.PayloadNotify, wire.PayloadVendorID},
			story:    "peer rekeys a CHILD_SA", step: (*Engine).rekeyChildRequest,
		},
		{
			states: inUse, exchange: wire.ExchangeCreateChildSA,
			required: []wire.PayloadType{wire.PayloadSA, wire.PayloadNonce, wire.PayloadTSi, wire.PayloadTSr},
			optional: []wire.PayloadType{wire.PayloadKeyExchange, wire.PayloadNotify, wire.PayloadVendorID},
			story:    "peer creates a CHILD_SA", step: (*Engine).createChildRequest,
		},
		{
			states: inUse, exchange: wire.ExchangeCreateChildSA, response: true,
			required: []wire.PayloadType{wire.PayloadSA, wire.PayloadNonce},
			optional: []wire.PayloadType{wire.PayloadKeyExchange, wire.PayloadTSi, wire.PayloadTSr, wire.PayloadNotify, wire.PayloadVendorID},
			story:    "peer answers our CREATE_CHILD_SA", step: (*Engine).taskAnswer,
		},
		{
			states: inUse, exchange: wire.ExchangeFollowupKE,
			required: []wire.PayloadType{wire.PayloadKeyExchange},
			optional: []wire.PayloadType{wire.PayloadNotify, wire.PayloadVendorID},
			story:    "peer goes on with additional key exchanges", step: (*Engine).followupRequest,
		},
		{
			states: inUse, exchange: wire.ExchangeFollowupKE, response: true,
			required: []wire.PayloadType{wire.PayloadKeyExchange},
			optional: []wire.PayloadType{wire.PayloadNotify, wire.PayloadVendorID},
			story:    "peer answers our additional key exchange", step: (*Engine).taskAnswer,
		},
		{
			states: inUse, exchange: wire.ExchangeInformational,
			optional: []wire.PayloadType{wire.PayloadDelete, wire.PayloadNotify, wire.PayloadConfiguration},
			story:    "peer deletes, notifies or checks for life", step: (*Engine).informationalRequest,
		},
		{
			states: append([]saState{stateRejected}, inUse...), exchange: wire.ExchangeInformational, response: true,
			optional: []wire.PayloadType{wire.PayloadDelete, wire.PayloadNotify, wire.PayloadConfiguration},
			story:    "peer answers our INFORMATIONAL", step: (*Engine).taskAnswer,
		},
	}
}

// initPayloads must be in IKE_SA_INIT, request and response, exactly
// once (RFC 7296 section 1.2).
var initPayloads = rule{required: []wire.PayloadType{wire.PayloadSA, wire.PayloadKeyExchange, wire.PayloadNonce}}

// findRule returns the first rule that fits, or nil.
func findRule(state saState, m *message) *rule {
	for i := range rules {
		if rules[i].fits(state, m) {
			return &rules[i]
		}
	}
	return nil
}

func (r *rule) fits(state saState, m *message) bool {
	if r.exchange != m.Exchange || r.response != m.IsResponse() {
		return false
	}
	if r.notify != 0 && m.notify(r.notify) == nil {
		return false
	}
	if r.protocol != 0 {
		sa := find[*wire.SA](m)
		if sa == nil || len(sa.Proposals) == 0 || sa.Proposals[0].Protocol != r.protocol {
			return false
		}
	}
	for _, s := range r.states {
		if s == state {
			return true
		}
	}
	return false
}

// missing returns a required payload that is not there exactly once, or
// PayloadNone.
func (r *rule) missing(m *message) wire.PayloadType {
	if m.IsResponse() && m.error() != nil {
		return wire.PayloadNone
	}
	for _, t := range r.required {
		n := 0
		for _, p := range m.payloads {
			if p.Type() == t {
				n++
			}
		}
		if n != 1 {
			return t
		}
	}
	return wire.PayloadNone
}
