package ike

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// The functions of this file turn what a peer reports into what the operator
// can do about it.

// explainInit explains an error in answer to IKE_SA_INIT.
func (e *Engine) explainInit(sa *ikeSA, t wire.NotifyType) string {
	c := sa.conn.cfg
	where := c.at("proposals")
	switch t {
	case wire.NotifyNoProposalChosen:
		return fmt.Sprintf("received NO_PROPOSAL_CHOSEN notify error: no proposal chosen: %v accepts none of our IKE proposals %s %s, or has no connection for our address; compare both sides",
			sa.remote.Addr(), proposalList(c.Proposals), where)
	case wire.NotifyInvalidMajorVersion:
		return fmt.Sprintf("%v does not speak IKEv2 (INVALID_MAJOR_VERSION): enable IKEv2 there", sa.remote.Addr())
	}
	return fmt.Sprintf("received %v notify error from %v in answer to IKE_SA_INIT %s", t, sa.remote.Addr(), where)
}

// explainAuth explains an error in answer to IKE_AUTH, or one that ends the IKE SA later.
func (e *Engine) explainAuth(sa *ikeSA, t wire.NotifyType) string {
	c := sa.conn.cfg
	switch t {
	case wire.NotifyAuthenticationFailed:
		if sa.setup != nil && sa.setup.ppk.used {
			return fmt.Sprintf("received AUTHENTICATION_FAILED notify error: peer %v rejects our identity '%v', our proof of it or our PPK '%v'; "+
				"compare secrets, ppk_id, local.id and remote.id on both sides %s", sa.remote.Addr(), sa.localID, c.PPKID, c.at("ppk_id"))
		}
		if c.Local.Method == AuthPubkey {
			return fmt.Sprintf("received AUTHENTICATION_FAILED notify error: peer %v rejects our certificate, our signature or our identity '%v'; "+
				"its log says why: does it trust our CA, and expect this identity? %s", sa.remote.Addr(), sa.localID, c.at("local"))
		}
		return fmt.Sprintf("received AUTHENTICATION_FAILED notify error: peer %v rejects our pre-shared key%s or our identity '%v'; "+
			"compare secrets, local.id and remote.id on both sides %s", sa.remote.Addr(), e.usedSecret(sa), sa.localID, c.at(""))
	case wire.NotifyUnexpectedNATDetected:
		return fmt.Sprintf("received UNEXPECTED_NAT_DETECTED notify error: there is a NAT on the way to %v, which cannot do NAT traversal; "+
			"enable that there, or take the NAT away %s", sa.remote.Addr(), c.at(""))
	case wire.NotifyInvalidSyntax:
		return fmt.Sprintf("received INVALID_SYNTAX notify error: peer %v did not understand our message", sa.remote.Addr())
	}
	return fmt.Sprintf("received %v notify error from %v in answer to IKE_AUTH %s", t, sa.remote.Addr(), c.at(""))
}

// explainChild explains why the peer refused a CHILD_SA.
func (e *Engine) explainChild(sa *ikeSA, o *offer, n *wire.Notify) string {
	c := o.want.cfg
	at := func(key string) string { return c.at(sa.conn.cfg, key) }
	switch n.NotifyType {
	case wire.NotifyNoProposalChosen:
		return fmt.Sprintf("received NO_PROPOSAL_CHOSEN notify, no CHILD_SA built: no proposal chosen: peer accepts none of our ESP proposals %s; compare esp_proposals on both sides %s",
			proposalList(o.proposals), at("esp_proposals"))
	case wire.NotifyTSUnacceptable:
		return fmt.Sprintf("received TS_UNACCEPTABLE notify error: peer accepts nothing of %s === %s; compare local_ts and remote_ts on both sides %s",
			tsString(o.localTS), tsString(o.remoteTS), at("remote_ts"))
	case wire.NotifySinglePairRequired:
		return fmt.Sprintf("received SINGLE_PAIR_REQUIRED notify error: peer wants one pair of addresses per CHILD_SA; narrow local_ts and remote_ts %s", at("remote_ts"))
	case wire.NotifyNoAdditionalSAs:
		return fmt.Sprintf("received NO_ADDITIONAL_SAS notify error: peer accepts no further CHILD_SA on this IKE_SA %s", at(""))
	case wire.NotifyTSMaxQueue:
		return fmt.Sprintf("received TS_MAX_QUEUE notify error: peer accepts no further CHILD_SA for one CPU %s", at("per_cpu_sas"))
	case wire.NotifyInvalidKEPayload:
		group := uint16(0)
		if len(n.Data) == 2 {
			group = binary.BigEndian.Uint16(n.Data)
		}
		return fmt.Sprintf("no common DH group: peer wants %s; we allow %s; compare esp_proposals on both sides %s",
			groupName(group), groupNames(o.proposals), at("esp_proposals"))
	}
	return fmt.Sprintf("received %v notify error, no CHILD_SA built %s", n.NotifyType, at(""))
}

// explainSilence explains that nothing came back.
func (e *Engine) explainSilence(sa *ikeSA) string {
	exchange, hint := "IKE_SA_INIT", "is it running, and do firewalls let UDP ports 500 and 4500 pass?"
	switch sa.state {
	case stateIntermediate:
		exchange, hint = "IKE_INTERMEDIATE", "does UDP port 4500 pass, and do fragments?"
	case stateAuth:
		exchange, hint = "IKE_AUTH", "does UDP port 4500 pass, and do fragments?"
	}
	return fmt.Sprintf("unreachable: no answer from %v to %s, %d tries: %s", sa.remote.Addr(), exchange, e.cfg.Timing.RetransmitTries+1, hint)
}

func proposalList(list []suite.Proposal) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}

func groupNames(list []suite.Proposal) string {
	var names []string
	for _, g := range groupsOf(list) {
		if g != suite.KENone {
			names = append(names, groupName(g))
		}
	}
	return strings.Join(names, ", ")
}
