package daemon

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/xfrm"
)

// audit puts back what somebody took out of, or changed in, our part of the policy
// database and the interfaces. It counts what it repaired.
func (in *installer) audit() error {
	if in.cleared {
		return nil
	}
	want := xfrm.State{Policies: in.policies.all()}
	dump, err := in.kernel.Policies()
	if err != nil {
		return fmt.Errorf("reading policies: %w", err)
	}
	var have xfrm.State
	for _, p := range dump {
		have.Policies = append(have.Policies, p.Policy)
	}
	interfaces, err := in.kernel.Interfaces()
	if err != nil {
		return fmt.Errorf("reading interfaces: %w", err)
	}
	want.Interfaces, have.Interfaces = in.links.missing(interfaces), nil
	applied, err := xfrm.Apply(in.kernel, xfrm.Diff(want, have, in.owner))
	for _, c := range applied {
		in.drift++
		in.log.Warn("repaired what somebody else changed in the kernel", "change", c.String())
	}
	return err
}

// reguard puts the guards back after a flush of all policies, without a look at what else is missing:
// until they are there, packets leave in the clear. What goes wrong here, the audit
// reports.
func (in *installer) reguard() {
	if in.cleared {
		return
	}
	for _, p := range in.policies.current(in.guards).Policies {
		if in.kernel.AddPolicy(p) == nil {
			in.drift++
		}
	}
	in.log.Warn("somebody flushed all policies; the guards are back")
}

// fixture is what a configuration wants of the kernel beside CHILD_SAs.
type fixture struct {
	guards     []netip.Prefix
	shunts     []xfrm.Policy
	interfaces []config.Interface
}

// takeOver is the first thing done to the kernel: it installs guards, shunts and traps, makes the
// interfaces those of the configuration, down but for those that adopted CHILD_SAs use, and removes what an earlier run
// left beside them.
func (in *installer) takeOver(f fixture, traps []trap) error {
	in.guards, in.shunts, in.traps = xfrm.Protect(f.guards, interfaceNames(f.interfaces)), f.shunts, traps
	in.fixture = f
	in.policies.fix(in.guards)
	in.policies.fix(in.shunts)
	in.policies.fix(flat(in.traps))
	for _, t := range in.armed {
		in.policies.fix(t.policies)
	}
	want := xfrm.State{SAs: append(in.adopted(), in.leftSAs()...), Policies: in.policies.all(), Interfaces: in.links.set(f.interfaces)}
	changes, err := xfrm.Sweep(in.kernel, want, in.owner)
	in.followPolicies()
	in.publishTraps()
	for _, c := range changes {
		in.log.Debug("took over the kernel's IPsec state", "change", c.String())
	}
	return err
}

// reconfigure makes guards, shunts and interfaces those of a new configuration. When they are as before there is nothing
// to do: what somebody else has changed, the audit repairs.
func (in *installer) reconfigure(f fixture) error {
	if reflect.DeepEqual(f, in.fixture) {
		return nil
	}
	dump, err := in.kernel.Interfaces()
	if err != nil {
		return fmt.Errorf("reading interfaces: %w", err)
	}
	have, want := slices.Concat(in.guards, in.shunts), slices.Concat(xfrm.Protect(f.guards, interfaceNames(f.interfaces)), f.shunts)
	touched := slices.Concat(have, want)
	before := in.policies.current(touched)
	for _, i := range dump {
		before.Interfaces = append(before.Interfaces, i.Interface)
	}
	in.policies.drop(fixedUser, have)
	in.policies.fix(want)
	after := in.policies.current(touched)
	after.Interfaces = in.links.set(f.interfaces)
	if _, err := xfrm.Apply(in.kernel, xfrm.Diff(after, before, in.owner)); err != nil {
		in.policies.drop(fixedUser, want)
		in.policies.fix(have)
		return err
	}
	in.guards, in.shunts, in.fixture = want[:len(want)-len(f.shunts)], f.shunts, f
	return nil
}

// clear takes everything of ours out of the kernel but the guards. No audit puts it
// back.
func (in *installer) clear() error {
	in.cleared = true
	_, err := xfrm.Sweep(in.kernel, xfrm.State{Policies: in.guards}, in.owner)
	return errors.Join(err, in.clearRoutes(), in.virtual.clear())
}

func interfaceNames(list []config.Interface) []string {
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names
}
