package vici

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
)

// refreshTime bounds how long a command waits for current traffic counts.
const refreshTime = time.Second

// listSAs streams one list-sa event for each IKE SA. As with charon, child and child-id choose among its CHILD_SAs: an IKE SA
// without such is listed without any.
func (c *call) listSAs() error {
	sel, err := c.selection()
	if err != nil {
		return err
	}
	st := c.current()
	for i := range st.Engine.IKESAs {
		sa := &st.Engine.IKESAs[i]
		if !(selection{ikeName: sel.ikeName, ikeID: sel.ikeID}).ike(sa) {
			continue
		}
		if !c.stream("list-sa", func(b *Builder) { writeSA(b, st, sa, sel) }) {
			return nil
		}
	}
	return nil
}

// current returns the status with fresh traffic counts, if they come in time.
func (c *call) current() *status.Status {
	ctx, cancel := context.WithTimeout(c.conn.ctx, refreshTime)
	defer cancel()
	_ = c.ctl.Refresh(ctx) // else the last counts serve
	return c.ctl.Status()
}

// writeSA writes an IKE SA as a section of its name, in charon's order of keys:
// clients print by it, child-sas last.
func writeSA(b *Builder, st *status.Status, sa *ike.IKESAInfo, sel selection) {
	b.Section(sa.Connection, func() {
		writeIKE(b, st, sa)
		b.Section("child-sas", func() {
			for i := range sa.Children {
				ch := &sa.Children[i]
				if sel.child(ch) {
					b.Section(childSection(ch), func() { writeChild(b, st, ch) })
				}
			}
		})
	})
}

func childSection(ch *ike.ChildInfo) string {
	return fmt.Sprintf("%s-%d", ch.SA.Config.Name, ch.SA.ID)
}

func writeIKE(b *Builder, st *status.Status, sa *ike.IKESAInfo) {
	b.Keyf("uniqueid", "%d", sa.ID)
	b.Key("version", "2")
	b.Key("state", sa.State.String())
	b.Key("local-host", host(sa.Local.Addr()))
	b.Keyf("local-port", "%d", sa.Local.Port())
	b.Key("local-id", sa.LocalID.String())
	b.Key("remote-host", host(sa.Remote.Addr()))
	b.Keyf("remote-port", "%d", sa.Remote.Port())
	b.Key("remote-id", sa.RemoteID.String())
	b.Flag("initiator", sa.Initiator)
	b.Keyf("initiator-spi", "%016x", sa.SPIi)
	b.Keyf("responder-spi", "%016x", sa.SPIr)
	b.Flag("nat-local", sa.NATLocal)
	b.Flag("nat-remote", sa.NATRemote)
	b.Flag("nat-fake", sa.NATFaked)
	b.Flag("nat-any", sa.NATLocal || sa.NATRemote || sa.NATFaked)
	writeIfIDs(b, sa.IfIDIn, sa.IfIDOut)
	if alg := sa.Proposal.Suite(); !alg.Encr.IsNone() {
		writeTransforms(b, alg)
		if !alg.PRF.IsNone() {
			b.Key("prf-alg", alg.PRF.Name())
		}
		writeKE(b, alg)
		b.Flag("ppk", sa.PPK)
	}
	if sa.State == ike.IKEEstablished { // as charon: not while it is rekeyed or deleted
		b.Keyf("established", "%d", seconds(st.Engine.Taken.Sub(sa.Established)))
		if !sa.RekeyAt.IsZero() {
			b.Keyf("rekey-time", "%d", seconds(sa.RekeyAt.Sub(st.Engine.Taken)))
		}
		if !sa.ReauthAt.IsZero() {
			b.Keyf("reauth-time", "%d", seconds(sa.ReauthAt.Sub(st.Engine.Taken)))
		}
	}
	writeVIPs(b, sa)
	writeTasks(b, "tasks-queued", sa.TasksQueued)
	writeTasks(b, "tasks-active", sa.TasksActive)
}

func writeTasks(b *Builder, name string, tasks []string) {
	if len(tasks) > 0 {
		b.List(name, tasks)
	}
}

func writeIfIDs(b *Builder, in, out uint32) {
	if in != 0 {
		b.Keyf("if-id-in", "%08x", in)
	}
	if out != 0 {
		b.Keyf("if-id-out", "%08x", out)
	}
}

func writeTransforms(b *Builder, s suite.Suite) {
	b.Key("encr-alg", s.Encr.Name())
	if s.Encr.KeyBits != 0 {
		b.Keyf("encr-keysize", "%d", s.Encr.KeyBits)
	}
	if !s.Integ.IsNone() {
		b.Key("integ-alg", s.Integ.Name())
	}
}

func writeKE(b *Builder, s suite.Suite) {
	if !s.KE.IsNone() {
		b.Key("dh-group", s.KE.Name())
	}
	for i, ke := range s.AddKE {
		if !ke.IsNone() {
			b.Key(fmt.Sprintf("ake%d", i+1), ke.Name())
		}
	}
}

func writeChild(b *Builder, st *status.Status, ch *ike.ChildInfo) {
	sa := ch.SA
	b.Key("name", sa.Config.Name)
	b.Keyf("uniqueid", "%d", sa.ID)
	b.Keyf("reqid", "%d", sa.ReqID)
	b.Key("state", ch.State.String())
	b.Key("mode", sa.Mode.String())
	if ch.State != ike.ChildInstalling {
		writeInstalled(b, st, ch)
	}
	b.List("local-ts", selectors(sorted(sa.LocalTS)))
	b.List("remote-ts", selectors(sorted(sa.RemoteTS)))
}

// writeInstalled writes what only a CHILD_SA in the kernel has.
func writeInstalled(b *Builder, st *status.Status, ch *ike.ChildInfo) {
	sa := ch.SA
	b.Key("protocol", "ESP")
	b.Flag("encap", sa.Encap)
	b.Keyf("spi-in", "%08x", sa.SPIIn)
	b.Keyf("spi-out", "%08x", sa.SPIOut)
	writeMark(b, "in", sa.MarkIn)
	writeMark(b, "out", sa.MarkOut)
	writeIfIDs(b, sa.IfIDIn, sa.IfIDOut)
	b.Flag("per-cpu-sas", sa.PerCPU)
	if sa.CPU.Bound {
		b.Keyf("cpu", "%d", sa.CPU.Number)
	}
	alg := ch.Proposal.Suite()
	writeTransforms(b, alg)
	writeKE(b, alg)
	if alg.ESN.ID == suite.ESNYes {
		b.Key("esn", "1")
	}
	t := st.Traffic[sa.ID]
	writeTraffic(b, st, "in", t.BytesIn, t.PacketsIn, t.LastIn)
	writeTraffic(b, st, "out", t.BytesOut, t.PacketsOut, t.LastOut)
	now := st.Engine.Taken
	if !ch.RekeyAt.IsZero() {
		b.Keyf("rekey-time", "%d", seconds(ch.RekeyAt.Sub(now)))
	}
	if !ch.ExpireAt.IsZero() {
		b.Keyf("life-time", "%d", seconds(ch.ExpireAt.Sub(now)))
	}
	b.Keyf("install-time", "%d", seconds(now.Sub(ch.Installed)))
}

func writeMark(b *Builder, dir string, m ike.Mark) {
	if m != (ike.Mark{}) {
		b.Keyf("mark-"+dir, "%08x", m.Value)
		if m.Mask != math.MaxUint32 {
			b.Keyf("mark-mask-"+dir, "%08x", m.Mask)
		}
	}
}

func writeTraffic(b *Builder, st *status.Status, dir string, bytes, packets uint64, last time.Time) {
	b.Keyf("bytes-"+dir, "%d", bytes)
	b.Keyf("packets-"+dir, "%d", packets)
	if !last.IsZero() {
		b.Keyf("use-"+dir, "%d", seconds(st.Engine.Taken.Sub(last)))
	}
}

// seconds rounds down and never below zero.
func seconds(d time.Duration) int64 { return max(int64(d/time.Second), 0) }

func host(a netip.Addr) string {
	if !a.IsValid() {
		return "%any"
	}
	return a.String()
}
