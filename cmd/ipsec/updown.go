package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// updown is the script of leftfirewall: the daemon runs it when a CHILD_SA comes up and when it goes. It lets the packets of that CHILD_SA,
// and no others, through a firewall of iptables.
func updown(ctx context.Context, env environment, args []string) error {
	if args[0] != "iptables" {
		return fmt.Errorf("found %q, expected iptables: rules for others are for a script of your own", args[0])
	}
	verb := env.getenv("PLUTO_VERB")
	name := map[bool]string{false: "iptables", true: "ip6tables"}[strings.HasSuffix(verb, "-v6")]
	parts := strings.Split(strings.TrimSuffix(verb, "-v6"), "-")
	change := map[string]string{"up": "-I", "down": "-D"}[parts[0]]
	if change == "" || len(parts) != 2 {
		return fmt.Errorf("found PLUTO_VERB=%q, expected up-client and its like: the daemon runs this for leftfirewall, or leftupdown", verb)
	}
	ours, peers, reqid := env.getenv("PLUTO_MY_CLIENT"), env.getenv("PLUTO_PEER_CLIENT"), env.getenv("PLUTO_REQID")
	var errs []error
	for _, r := range firewallRules(parts[1] == "client", env.getenv("PLUTO_HOST_ACCESS") != "") {
		src, dst := peers, ours
		if r.dir == "out" {
			src, dst = ours, peers
		}
		if err := env.exec(ctx, env, name, "-w", change, r.chain, "-s", src, "-d", dst,
			"-m", "policy", "--dir", r.dir, "--pol", "ipsec", "--proto", "esp", "--reqid", reqid, "-j", "ACCEPT"); err != nil {
			errs = append(errs, fmt.Errorf("%s %s %s: %w", name, change, r.chain, err))
		}
	}
	return errors.Join(errs...)
}

// firewallRule accepts packets of the CHILD_SA in a chain.
type firewallRule struct{ chain, dir string }

// firewallRules are those for networks behind us, or for ourselves. hostAccess says that we are in the network.
func firewallRules(networks, hostAccess bool) []firewallRule {
	host := []firewallRule{{"INPUT", "in"}, {"OUTPUT", "out"}}
	switch forward := []firewallRule{{"FORWARD", "in"}, {"FORWARD", "out"}}; {
	case networks && hostAccess:
		return append(forward, host...)
	case networks:
		return forward
	}
	return host
}
