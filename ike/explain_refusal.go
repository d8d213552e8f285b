package ike

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ipsecd/ipsecd/ike/auth"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/ike/wire"
)

// The functions of this file say why we refuse a peer: what it sent, what we have in its place, and
// where that is written.

// explain says why no connection is for a pair of addresses.
func (d *directory) explain(local, remote netip.Addr) string {
	const advice = "add one whose local_addrs and remote_addrs fit"
	var near []string
	for _, list := range [][]ranked{d.single[remote], d.others} {
		for _, r := range list {
			if c := r.c.cfg; len(near) < maxExplained && matchAddr(c.RemoteAddrs, remote) > 0 && matchAddr(c.LocalAddrs, local) == 0 {
				near = append(near, fmt.Sprintf("%s has other local_addrs %s", c.Name, c.at("local_addrs")))
			}
		}
	}
	if len(near) == 0 {
		return fmt.Sprintf("no connection for %v...%v is configured: none has %v in remote_addrs; %s", local, remote, remote, advice)
	}
	return fmt.Sprintf("no connection for %v...%v is configured: %s; %s", local, remote, strings.Join(near, "; "), advice)
}

// explainProposals says why no candidate allows what a peer offers in IKE_SA_INIT: with the one that comes
// closest, which is returned.
func explainProposals(candidates []*connection, offer *wire.SA) (*connection, string) {
	closest, why, fewest := candidates[0], "", -1
	for _, c := range candidates {
		_, _, err := choose(c.cfg.Proposals, offer, suite.Options{})
		var mismatch *suite.MismatchError
		if !errors.As(err, &mismatch) {
			continue
		}
		if n := len(mismatch.Misses); fewest < 0 || n < fewest {
			closest, why, fewest = c, err.Error(), n
		}
	}
	why += " " + closest.cfg.at("proposals")
	if n := len(candidates) - 1; n > 0 {
		why += fmt.Sprintf("; the %d others for these addresses fit less", n)
	}
	return closest, why
}

// explainCandidates says of each connection for the addresses of an IKE SA why it is
// not for this peer.
func (sa *ikeSA) explainCandidates(peer auth.Identity, idr *wire.Identification) string {
	asked := "any identity of ours"
	if idr != nil {
		asked = fmt.Sprintf("'%v'", identity(idr))
	}
	var each []string
	for i, c := range sa.candidates {
		if i == maxExplained {
			each = append(each, fmt.Sprintf("and %d more", len(sa.candidates)-i))
			break
		}
		each = append(each, sa.explainCandidate(c, peer))
	}
	return fmt.Sprintf("no connection for peer '%v' that asks for %s: %s; compare local.id and remote.id on both sides", peer, asked, strings.Join(each, "; "))
}

func (sa *ikeSA) explainCandidate(c *connection, peer auth.Identity) string {
	switch cfg := c.cfg; {
	case c.removed:
		return cfg.Name + " has changed meanwhile"
	case !allows(cfg.Proposals, sa.proposal):
		return fmt.Sprintf("%s does not allow %v %s", cfg.Name, sa.proposal, cfg.at("proposals"))
	case !cfg.Remote.ID.Matches(peer):
		return fmt.Sprintf("%s expects '%v' %s", cfg.Name, cfg.Remote.ID, cfg.at("remote.id"))
	default:
		return fmt.Sprintf("%s has us as '%v' %s", cfg.Name, cfg.Local.ID, cfg.at("local.id"))
	}
}

// explainKeys says why no pre-shared key has proved a peer's identity.
func explainKeys(secrets []auth.Secret, local, remote auth.Identity) string {
	if len(secrets) == 0 {
		return fmt.Sprintf("no pre-shared key for '%v' - '%v': add one to secrets", local, remote)
	}
	return fmt.Sprintf("tried %d shared key(s) for '%v' - '%v', but MAC mismatched: compare %s with the peer's",
		len(secrets), local, remote, secretNames(secrets))
}

// usedSecret names the pre-shared key that we have proved our identity with in IKE_AUTH.
func (e *Engine) usedSecret(sa *ikeSA) string {
	expected := sa.conn.cfg.Remote.ID
	if expected.IsAny() {
		expected = auth.FromAddr(sa.remote.Addr())
	}
	list := e.secrets(sa, sa.localID, expected)
	if len(list) == 0 {
		return ""
	}
	return " (" + secretNames(list[:1]) + ")"
}

// explainSelectors says why no child fits the selectors that a peer proposes.
func (sa *ikeSA) explainSelectors(local, remote []TrafficSelector, old *childSA) string {
	wants := sa.conn.wants
	if old != nil {
		wants = []*want{old.want}
	}
	var each []string
	for i, w := range wants {
		if i == maxExplained {
			each = append(each, fmt.Sprintf("and %d more", len(wants)-i))
			break
		}
		l, r := resolve(w.cfg.LocalTS, sa.localHosts()...), resolve(w.cfg.RemoteTS, sa.remoteHosts()...)
		key := "remote_ts"
		if len(narrow(l, local)) == 0 {
			key = "local_ts"
		}
		each = append(each, fmt.Sprintf("%s has %s === %s %s", w.cfg.Name, tsString(l), tsString(r), w.cfg.at(sa.conn.cfg, key)))
	}
	return fmt.Sprintf("peer proposes the traffic selectors %s === %s, and no child fits: %s", tsString(local), tsString(remote), strings.Join(each, "; "))
}
