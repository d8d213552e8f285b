package ike

import (
	"encoding/binary"
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// authLifetime returns the notification that tells the initiator by when we want it to
// authenticate again (RFC 4478 section 3), if we want that.
func (sa *ikeSA) authLifetime() []wire.Payload {
	lifetime := sa.conn.cfg.ReauthTime / time.Second
	if lifetime <= 0 {
		return nil
	}
	return []wire.Payload{notification(wire.NotifyAuthLifetime, binary.BigEndian.AppendUint32(nil, uint32(lifetime)))}
}

// obeyLifetime plans reauthentication as the responder wants it, if we do not want it sooner. It is
// done over_time before the end. It is for the original initiator, also after the responder has rekeyed the IKE SA.
func (e *Engine) obeyLifetime(sa *ikeSA, m *message) {
	n := m.notify(wire.NotifyAuthLifetime)
	if n == nil || len(n.Data) != 4 || !sa.mobike.leads {
		return
	}
	lifetime := time.Duration(binary.BigEndian.Uint32(n.Data)) * time.Second
	lifetime = max(lifetime, minAuthLifetime)
	margin := min(max(sa.conn.cfg.OverTime, lifetime/10), lifetime/2)
	at := e.now.Add(lifetime - margin)
	if planned := sa.reauth.at; !planned.IsZero() && !planned.After(at) {
		e.note(sa, LevelInfo, "IKE", "received AUTH_LIFETIME of %ds, reauthentication already scheduled in %ds",
			lifetime/time.Second, planned.Sub(e.now)/time.Second)
		return
	}
	sa.reauth.at, sa.reauth.until = at, e.now.Add(lifetime)
	e.note(sa, LevelInfo, "IKE", "received AUTH_LIFETIME of %ds, scheduling reauthentication in %ds", lifetime/time.Second, (lifetime-margin)/time.Second)
	e.startReauthTimers(sa)
}

// startReauthTimers sets when the IKE SA is authenticated again, and when it ends without.
func (e *Engine) startReauthTimers(sa *ikeSA) {
	if !sa.reauth.at.IsZero() {
		e.setSATimer(sa, timerReauth, sa.reauth.at)
	}
	end := sa.timers[timerIKEExpire].pending()
	if until := sa.reauth.until; !until.IsZero() && (end.IsZero() || until.Before(end)) {
		e.setSATimer(sa, timerIKEExpire, until)
	}
}
