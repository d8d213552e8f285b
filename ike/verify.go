package ike

import (
	"errors"
	"time"

	"github.com/ipsecd/ipsecd/ike/auth"
)

// verification is a peer's proof and the connections that it is checked for.
type verification struct {
	store *auth.Store
	peer  auth.Peer
	list  []*connection
	terms []*auth.Terms
	now   time.Time
}

// verifyResult says which of several connections accepts the peer; without one, why
// the first does not.
type verifyResult struct {
	conn     *connection
	verified *auth.Verified
	err      error
	open     []auth.Query // nothing is decided before these are answered
}

// verifyPeer lets a worker check a peer's signature and certificates for one of
// the connections, the best first. Where it takes the network to tell whether a certificate
// is revoked, this IKE SA alone waits for it; then a worker checks once more.
func (e *Engine) verifyPeer(sa *ikeSA, p *auth.Peer, list []*connection, done func(verifyResult)) {
	v := &verification{store: e.cfg.Credentials, peer: *p, list: list[:min(len(list), maxVerifications)], now: e.now}
	for _, c := range v.list {
		v.terms = append(v.terms, &c.cfg.Remote.Terms)
	}
	e.runVerification(sa, v, func(r verifyResult) {
		if len(r.open) == 0 {
			done(r)
			return
		}
		e.note(sa, LevelInfo, "CFG", "asking whether certificates of '%v' are revoked", p.ID)
		e.fetch(sa, func() { v.store.Fetch(r.open, v.now) }, func() {
			v.peer.Fetched = true
			e.runVerification(sa, v, done)
		})
	})
}

func (e *Engine) runVerification(sa *ikeSA, v *verification, done func(verifyResult)) {
	e.compute(sa, func() any { return v.firstAccepting() }, func(result any) {
		r, ok := result.(verifyResult)
		if !ok {
			r = verifyResult{conn: v.list[0], err: result.(keyResult).err}
		}
		done(r)
	})
}

func (v *verification) firstAccepting() verifyResult {
	first := verifyResult{conn: v.list[0]}
	for i, t := range v.terms {
		got, err := v.store.Verify(&v.peer, t, v.now)
		var open *auth.Unsettled
		switch {
		case err == nil:
			return verifyResult{conn: v.list[i], verified: got}
		case errors.As(err, &open):
			return verifyResult{conn: v.list[i], open: open.Queries}
		case first.err == nil:
			first.err = err
		}
	}
	return first
}
