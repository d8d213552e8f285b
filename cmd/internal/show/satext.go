package show

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteSAs writes every IKE SA with its CHILD_SAs below it, in the layout that
// swanctl made familiar.
func WriteSAs(w io.Writer, r *Report, s Style) error {
	if len(r.SAs) == 0 {
		_, err := fmt.Fprintln(w, "no IKE SAs")
		return err
	}
	var b strings.Builder
	for i := range r.SAs {
		writeIKESA(&b, r.Taken, &r.SAs[i], s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeIKESA(b *strings.Builder, now time.Time, sa *SA, s Style) {
	fmt.Fprintf(b, "%s: #%d, %s, IKEv2, %s%s %s%s\n", sa.Connection, sa.ID, s.saState(sa.State),
		sa.SPIInitiator, only(sa.Initiator, "*"), sa.SPIResponder, only(!sa.Initiator, "*"))
	fmt.Fprintf(b, "  local  %s [%s]%s%s\n", sa.Local, Clean(sa.LocalID), only(sa.NATLocal, " behind NAT"), virtualText(sa.LocalVIPs))
	fmt.Fprintf(b, "  remote %s [%s]%s%s\n", sa.Remote, Clean(sa.RemoteID), only(sa.NATRemote, " behind NAT"), virtualText(sa.RemoteVIPs))
	if sa.Proposal != "" {
		fmt.Fprintf(b, "  %s\n", sa.Proposal)
	}
	if !sa.Established.IsZero() {
		fmt.Fprintf(b, "  established %s ago%s\n", since(now, sa.Established), ahead(now, "rekeying", sa.RekeyAt))
	}
	for i := range sa.Children {
		writeChildSA(b, now, &sa.Children[i], s)
	}
}

func writeChildSA(b *strings.Builder, now time.Time, c *ChildSA, s Style) {
	cpu := ""
	if c.CPU != nil {
		cpu = fmt.Sprintf(", CPU %d", *c.CPU)
	}
	fmt.Fprintf(b, "  %s: #%d, reqid %d, %s, %s%s%s, ESP %s\n", c.Child, c.ID, c.ReqID, s.saState(c.State), c.Mode, only(c.Encap, " in UDP"), cpu, c.Proposal)
	if !c.Installed.IsZero() {
		fmt.Fprintf(b, "    installed %s ago%s%s\n", since(now, c.Installed), ahead(now, "rekeying", c.RekeyAt), ahead(now, "expires", c.ExpireAt))
	}
	writeHalf(b, now, "in ", c.SPIIn, c.IfIDIn, c.Traffic.BytesIn, c.Traffic.PacketsIn, c.Traffic.LastIn)
	writeHalf(b, now, "out", c.SPIOut, c.IfIDOut, c.Traffic.BytesOut, c.Traffic.PacketsOut, c.Traffic.LastOut)
	fmt.Fprintf(b, "    local  %s\n    remote %s\n", strings.Join(c.LocalTS, " "), strings.Join(c.RemoteTS, " "))
}

func writeHalf(b *strings.Builder, now time.Time, dir, spi string, ifID uint32, bytes, packets uint64, last time.Time) {
	fmt.Fprintf(b, "    %s 0x%s", dir, spi)
	if ifID != 0 {
		fmt.Fprintf(b, " if_id %d", ifID)
	}
	fmt.Fprintf(b, ", %d bytes, %d packets", bytes, packets)
	if !last.IsZero() {
		fmt.Fprintf(b, ", %s ago", since(now, last))
	}
	b.WriteByte('\n')
}

// ahead is ", what in 4m", or nothing if that is not planned.
func ahead(now time.Time, what string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + what + " in " + until(now, t)
}

func only(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}
