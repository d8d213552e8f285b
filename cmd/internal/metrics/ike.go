package metrics

import (
	"strings"

	"github.com/ipsecd/ipsecd/ike"
)

var (
	ikeSAs         = gauge("ike_sas", "IKE SAs by state.", "state")
	ikeHalfOpen    = gauge("ike_half_open", "IKE SAs that peers began to set up and did not finish.")
	negotiations   = counter("ike_negotiations_total", "Finished attempts to set up an IKE SA.", "role", "result")
	messages       = counter("ike_messages_total", "IKE messages, requests and responses.", "exchange", "direction")
	retransmits    = counter("ike_retransmits_total", "IKE requests that were sent again for want of an answer.")
	duplicates     = counter("ike_duplicate_requests_total", "IKE requests that came again and were answered again.")
	invalid        = counter("ike_invalid_messages_total", "IKE messages that were dropped.", "reason")
	socketDrops    = counter("ike_socket_drops_total", "IKE messages that were dropped because more came than the engine took.")
	cookies        = counter("ike_cookies_sent_total", "IKE_SA_INIT requests that were answered with a demand for a cookie.")
	rekeys         = counter("rekeys_total", "Finished rekeys, whoever began them.", "kind", "result")
	collisions     = counter("rekey_collisions_total", "Rekeys that both sides began at once.")
	livenessFailed = counter("dpd_timeouts_total", "IKE SAs given up because the peer did not answer.")
)

// Series of a known set exist from the start, so that the first event is an
// increase and not a new series.
var (
	ikeStates = []ike.IKEState{ike.IKEConnecting, ike.IKEEstablished, ike.IKERekeying, ike.IKERekeyed, ike.IKEDeleting}
	exchanges = []string{"IKE_SA_INIT", "IKE_AUTH", "CREATE_CHILD_SA", "INFORMATIONAL"}
	outcomes  = []bool{true, false}
)

func collectIKE(s sink, e *ike.Snapshot) {
	states := map[ike.IKEState]int{}
	for i := range e.IKESAs {
		states[e.IKESAs[i].State]++
	}
	for _, st := range ikeStates {
		s.put(ikeSAs, float64(states[st]), strings.ToLower(st.String()))
	}
	k := &e.Counters
	s.put(ikeHalfOpen, float64(k.HalfOpen))
	s.put(retransmits, float64(k.Retransmits))
	s.put(duplicates, float64(k.DuplicateRequest))
	s.put(cookies, float64(k.CookiesSent))
	s.put(collisions, float64(k.RekeyCollisions))
	s.put(livenessFailed, float64(k.DPDTimeouts))
	for reason, n := range k.Invalid {
		s.put(invalid, float64(n), reason)
	}
	collectMessages(s, k)
	collectResults(s, k)
}

func collectMessages(s sink, k *ike.Counters) {
	type class struct {
		exchange string
		inbound  bool
	}
	sum := map[class]uint64{}
	for _, x := range exchanges {
		sum[class{x, true}], sum[class{x, false}] = 0, 0
	}
	for key, n := range k.Messages {
		sum[class{key.Exchange, key.Inbound}] += n
	}
	for c, n := range sum {
		direction := "out"
		if c.inbound {
			direction = "in"
		}
		s.put(messages, float64(n), c.exchange, direction)
	}
}

func collectResults(s sink, k *ike.Counters) {
	for _, ok := range outcomes {
		for _, initiator := range outcomes {
			role := "responder"
			if initiator {
				role = "initiator"
			}
			s.put(negotiations, float64(k.Negotiations[ike.NegotiationKey{Initiator: initiator, OK: ok}]), role, result(ok))
		}
		for _, child := range outcomes {
			kind := "ike"
			if child {
				kind = "child"
			}
			n := k.Rekeys[ike.RekeyKey{Child: child, Initiator: true, OK: ok}] + k.Rekeys[ike.RekeyKey{Child: child, OK: ok}]
			s.put(rekeys, float64(n), kind, result(ok))
		}
	}
}

func result(ok bool) string {
	if ok {
		return "success"
	}
	return "failure"
}
