package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"syscall"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// installer carries the engine's actions out in the kernel and remembers what
// it put there, so that it can be taken out, counted and audited. It belongs
// to one goroutine.
type installer struct {
	kernel xfrm.Kernel
	owner  xfrm.Owner
	log    *slog.Logger
	emit   func(ike.Event) // to the engine; must not block
	now    func() time.Time

	children  map[uint32]*installed // by ike.ChildSA.ID
	bySPI     map[xfrm.SAID]uint32  // SA -> child
	policies  policyTable
	fixture   fixture                   // of the configuration in force
	guards    []xfrm.Policy             // of protect
	shunts    []xfrm.Policy             // of children with mode = pass or drop
	traps     []trap                    // of start_action = trap
	armed     map[status.ChildName]trap // of the engine's Trap
	trapsSet  func([]status.Trap)       // told which traps there are; may be nil
	leftovers map[leftoverKey]*leftover // of a dead process
	links     *links
	totals    map[status.ChildName]*status.Totals
	upSince   map[status.ChildName]time.Time // from ChildUp to ChildDown
	drift     int
	routes    sourceRoutes
	virtual   virtualAddrs
	cleared   bool // the daemon ends
	deviceOf  func(netip.Addr) string
}

// installed is one CHILD_SA in the kernel.
type installed struct {
	sa       *ike.ChildSA
	in, out  *half
	deferred *xfrm.SA // the outbound SA, with keys, until InstallOutbound
	policies []xfrm.Policy
}

// half is one direction of a CHILD_SA, and what was last counted on it.
type half struct {
	sa     xfrm.SA // without keys
	seen   xfrm.Counters
	status halfTraffic
}

func newInstaller(k xfrm.Kernel, owner xfrm.Owner, log *slog.Logger, emit func(ike.Event)) *installer {
	return &installer{
		kernel:    k,
		owner:     owner,
		log:       log,
		emit:      emit,
		now:       time.Now,
		deviceOf:  deviceOf,
		children:  map[uint32]*installed{},
		bySPI:     map[xfrm.SAID]uint32{},
		policies:  policyTable{},
		armed:     map[status.ChildName]trap{},
		leftovers: map[leftoverKey]*leftover{},
		links:     newLinks(k),
		totals:    map[status.ChildName]*status.Totals{},
		upSince:   map[status.ChildName]time.Time{},
	}
}

// perform carries out one action.
func (in *installer) perform(a ike.Action) {
	switch a := a.(type) {
	case ike.InstallChild:
		if err := in.install(a); err != nil {
			in.emit(ike.InstallFailed{ChildID: a.Child.ID, Err: err})
			return
		}
		in.emit(ike.Installed{ChildID: a.Child.ID})
	case ike.InstallOutbound:
		in.report("outbound SA", in.installOutbound(a.ChildID))
	case ike.RemoveOutbound:
		in.report("outbound SA", in.removeOutbound(a.ChildID))
	case ike.RemoveChild:
		in.report("CHILD_SA", in.remove(a.ChildID))
	case ike.MoveChild:
		in.report("CHILD_SA", in.move(a.Child))
	case ike.VirtualAddrs:
		in.report("virtual address", in.virtual.set(a))
		in.auditRoutes() // policies that are there already need routes from the address, or no longer
	case ike.Trap:
		in.report("trap", in.arm(a.Child))
	case ike.Untrap:
		in.report("trap", in.disarm(status.ChildName{Connection: a.Connection, Child: a.Child}))
	case ike.ChildUp:
		in.upSince[status.ChildName{Connection: a.Child.Connection, Child: a.Child.Config.Name}] = in.now()
		in.report("interface", in.links.up(a.Child))
	case ike.ChildDown:
		name := status.ChildName{Connection: a.Connection, Child: a.Child}
		delete(in.upSince, name)
		in.report("interface", in.links.down(name))
	}
}

func (in *installer) report(what string, err error) {
	if err != nil {
		in.log.Error("kernel refused a change; the next audit tries again", "what", what, "err", err)
	}
}

// install adds a CHILD_SA: inbound SA, inbound policies, outbound SA, outbound
// policy (the order of xfrm.Diff). On an error nothing of it stays.
func (in *installer) install(a ike.InstallChild) error {
	defer wipeKeys(a.Keys)
	if in.children[a.Child.ID] != nil {
		return fmt.Errorf("CHILD_SA %d is installed already", a.Child.ID)
	}
	offloads, err := in.offloads(a.Child)
	for i, o := range offloads {
		if err = in.installWith(a, o); err == nil {
			return nil
		}
		if i+1 < len(offloads) {
			in.log.Debug("hw_offload = auto: the kernel refuses this way", "packet", o.Packet, "device", o.Device, "err", err)
		}
	}
	return err
}

func (in *installer) installWith(a ike.InstallChild, o *xfrm.Offload) error {
	inSA, err := inboundSA(a.Child, a.Keys)
	if err != nil {
		return err
	}
	outSA, err := outboundSA(a.Child, a.Keys)
	if err != nil {
		return err
	}
	c := &installed{sa: a.Child, policies: policies(a.Child)}
	offloaded(o, []*xfrm.SA{&inSA, &outSA}, c.policies)
	before := in.policies.current(c.policies)
	in.policies.use(c.sa.ID, c.policies)
	want := in.policies.current(c.policies)
	want.SAs = []xfrm.SA{inSA}
	if a.DeferOutbound {
		c.deferred = &outSA
		defer wipe(&inSA)
	} else {
		want.SAs = append(want.SAs, outSA)
		defer wipe(&inSA)
		defer wipe(&outSA)
	}
	applied, err := xfrm.Apply(in.kernel, xfrm.Diff(want, before, in.owner))
	if err != nil {
		in.policies.drop(c.sa.ID, c.policies)
		in.undo(applied)
		wipe(&outSA)
		return err
	}
	c.in = in.track(a.Child.ID, inSA)
	if !a.DeferOutbound {
		c.out = in.track(a.Child.ID, outSA)
	}
	in.children[a.Child.ID] = c
	in.followPolicies()
	if !a.DeferOutbound {
		in.supersede(a.Child)
	}
	return nil
}

func (in *installer) undo(applied []xfrm.Change) {
	if _, err := xfrm.Apply(in.kernel, xfrm.Undo(applied)); err != nil {
		in.log.Error("could not take back a failed installation; the next audit tries again", "err", err)
	}
}

func (in *installer) track(child uint32, sa xfrm.SA) *half {
	sa = withoutKeys(sa)
	in.bySPI[sa.ID()] = child
	return &half{sa: sa}
}

// installOutbound adds the outbound SA that install left out.
func (in *installer) installOutbound(id uint32) error {
	c := in.children[id]
	if c == nil || c.deferred == nil {
		return nil
	}
	sa := *c.deferred
	c.deferred = nil
	defer wipe(&sa)
	if err := in.kernel.AddSA(sa); err != nil {
		in.emit(ike.Expire{SPI: uint32(sa.SPI), Dst: sa.Dst, Hard: true})
		return err
	}
	c.out = in.track(id, sa)
	in.supersede(c.sa)
	return nil
}

// removeOutbound takes the sending half of a rekeyed CHILD_SA away.
func (in *installer) removeOutbound(id uint32) error {
	c := in.children[id]
	if c == nil {
		return nil
	}
	return in.removeHalf(c, &c.out)
}

func (in *installer) removeHalf(c *installed, h **half) error {
	if *h == nil {
		return nil
	}
	sa := (*h).sa
	if info, err := in.kernel.GetSA(sa.ID()); err == nil {
		in.count(c, *h, info)
	}
	delete(in.bySPI, sa.ID())
	*h = nil
	return gone(in.kernel.DelSA(sa.ID()))
}

// remove takes a CHILD_SA out: outbound policy and SA first, so that nothing
// is sent that the peer can no longer answer.
func (in *installer) remove(id uint32) error {
	c := in.children[id]
	if c == nil {
		return nil
	}
	delete(in.children, id)
	if c.deferred != nil {
		wipe(c.deferred)
	}
	_, errs := xfrm.Apply(in.kernel, in.release(c))
	in.followPolicies()
	return errors.Join(errs, in.removeHalf(c, &c.out), in.removeHalf(c, &c.in))
}

// release forgets a CHILD_SA's policies and returns what that means for the
// kernel: a policy that others use stays, in the form of its best user.
func (in *installer) release(c *installed) []xfrm.Change {
	before := in.policies.current(c.policies)
	in.policies.drop(c.sa.ID, c.policies)
	return xfrm.Diff(in.policies.current(c.policies), before, in.owner)
}

// gone ignores that something to be deleted was not there.
func gone(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

func withoutKeys(sa xfrm.SA) xfrm.SA {
	if sa.AEAD != nil {
		sa.AEAD = &xfrm.AEAD{Name: sa.AEAD.Name, ICVBits: sa.AEAD.ICVBits}
	}
	if sa.Crypt != nil {
		sa.Crypt = &xfrm.Crypt{Name: sa.Crypt.Name}
	}
	if sa.Auth != nil {
		sa.Auth = &xfrm.Auth{Name: sa.Auth.Name, TruncBits: sa.Auth.TruncBits}
	}
	return sa
}

func wipeKeys(k *ike.ESPKeys) {
	k.EncrIn.Wipe()
	k.EncrOut.Wipe()
	k.IntegIn.Wipe()
	k.IntegOut.Wipe()
}
