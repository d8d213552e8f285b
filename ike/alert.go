package ike

import (
	"errors"
	"net/netip"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// Alert names an error condition in the words of charon's event alert (strongSwan 6.0.3).
type Alert string

// The alerts.
const (
	AlertCertExpired         Alert = "cert-expired"
	AlertCertNoIssuer        Alert = "cert-no-issuer"
	AlertCertPathLen         Alert = "cert-exceeded-path-len"
	AlertCertPolicy          Alert = "cert-policy-violation"
	AlertCertRevoked         Alert = "cert-revoked"
	AlertCertStatus          Alert = "cert-validation-failed" // whether it is revoked could not be found out
	AlertHalfOpenTimeout     Alert = "half-open-timeout"
	AlertIKEExpired          Alert = "ike-sa-expired"
	AlertInstallFailed       Alert = "install-child-sa-failed"
	AlertInvalidSPI          Alert = "invalid-ike-spi"
	AlertKeptWithoutChild    Alert = "keep-on-child-sa-failure"
	AlertLocalAuthFailed     Alert = "local-auth-failed" // by the peer's word
	AlertParseBody           Alert = "parse-error-body"
	AlertParseHeader         Alert = "parse-error-header"
	AlertPeerAddrFailed      Alert = "peer-addr-failed" // its name cannot be looked up
	AlertPeerAuthFailed      Alert = "peer-auth-failed"
	AlertPeerInitUnreachable Alert = "peer-init-unreachable"
	AlertProposalChild       Alert = "proposal-mismatch-child"
	AlertProposalIKE         Alert = "proposal-mismatch-ike"
	AlertRetransmitReceive   Alert = "retransmit-receive"
	AlertRetransmitSend      Alert = "retransmit-send"
	AlertRetransmitCleared   Alert = "retransmit-send-cleared"
	AlertRetransmitTimeout   Alert = "retransmit-send-timeout"
	AlertShutdown            Alert = "shutdown-signal"
	AlertTSMismatch          Alert = "ts-mismatch"
	AlertTSNarrowed          Alert = "ts-narrowed" // by either end
	AlertUniqueKeep          Alert = "unique-keep"
	AlertVirtualIP           Alert = "vip-failure"
	AlertUniqueReplace       Alert = "unique-replace"
)

// alert gives an alert out. Its note has no text: what there is to say is in another one.
func (e *Engine) alert(sa *ikeSA, a Alert) {
	n := Note{Kind: NoteAlert, Alert: a}
	if sa != nil && sa.conn != nil {
		n.IKEID, n.Connection = sa.id, sa.conn.cfg.Name
	}
	e.emit(n)
}

// strangerAlert is alert for what unauthenticated packets cause.
func (e *Engine) strangerAlert(sa *ikeSA, a Alert) {
	if e.alerts.allow(e.now) {
		e.alert(sa, a)
	}
}

// alertInit tells of an error in answer to IKE_SA_INIT.
func (e *Engine) alertInit(sa *ikeSA, t wire.NotifyType) {
	if t == wire.NotifyNoProposalChosen {
		e.alert(sa, AlertProposalIKE)
	}
}

// alertAuth tells of an error in answer to IKE_AUTH.
func (e *Engine) alertAuth(sa *ikeSA, t wire.NotifyType) {
	if t == wire.NotifyAuthenticationFailed {
		e.alert(sa, AlertLocalAuthFailed)
	}
}

// alertChild tells why there is no CHILD_SA, of whichever end's making.
func (e *Engine) alertChild(sa *ikeSA, t wire.NotifyType) {
	switch t {
	case wire.NotifyNoProposalChosen, wire.NotifyInvalidKEPayload:
		e.alert(sa, AlertProposalChild)
	case wire.NotifyTSUnacceptable:
		e.alert(sa, AlertTSMismatch)
	}
}

// alertPeerAuth tells that a peer did not prove who it is, and what is wrong with its certificate, if that is the reason.
func (e *Engine) alertPeerAuth(sa *ikeSA, err error) {
	var rejected *auth.Rejected
	if errors.As(err, &rejected) {
		e.alert(sa, certAlerts[rejected.Why])
	}
	e.alert(sa, AlertPeerAuthFailed)
}

// certAlerts are the alerts about certificates.
var certAlerts = map[auth.Rejection]Alert{
	auth.RejectedExpired: AlertCertExpired, auth.RejectedNoIssuer: AlertCertNoIssuer, auth.RejectedPathLen: AlertCertPathLen,
	auth.RejectedPolicy: AlertCertPolicy, auth.RejectedRevoked: AlertCertRevoked, auth.RejectedStatus: AlertCertStatus,
}

// endpoints are the two ends of an IKE SA.
type endpoints struct{ local, remote netip.AddrPort }

// tellMoved gives out that an established IKE SA has other endpoints than it had when this was called last.
func (e *Engine) tellMoved(sa *ikeSA) {
	if sa.gone || !sa.up() {
		return
	}
	now := endpoints{sa.local, sa.remote}
	if before := sa.told; before != now && before != (endpoints{}) {
		e.emit(Note{Kind: NoteIKEMoved, Connection: sa.conn.cfg.Name, IKEID: sa.id,
			Moved: &Moved{OldLocal: before.local, OldRemote: before.remote, Local: now.local, Remote: now.remote}})
	}
	sa.told = now
}
