package daemon

import (
	"fmt"
	"time"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/ike/suite"
	"github.com/ipsecd/ipsecd/xfrm"
)

// inboundSA returns the kernel's form of a CHILD_SA's receiving half.
func inboundSA(c *ike.ChildSA, keys *ike.ESPKeys) (xfrm.SA, error) {
	cfg, sa := c.Config, commonSA(c)
	sa.Src, sa.Dst = c.Remote, c.Local
	sa.SPI, sa.Dir, sa.IfID = xfrm.SPI(c.SPIIn), xfrm.DirIn, c.IfIDIn
	sa.ReplayWindow, sa.ReplayOff = cfg.ReplayWindow, cfg.ReplayWindow == 0
	set, _ := c.SetMarks()
	sa.OutputMark = xfrm.Mark(set)
	if cfg.MarkInSA {
		sa.Mark = xfrm.Mark(c.MarkIn)
	}
	if cfg.CopyDSCPIn {
		sa.Flags |= xfrm.DecapDSCP
	}
	if cfg.ForwardICMP {
		sa.Flags |= xfrm.ICMP
	}
	if c.Encap {
		sa.Encap = &xfrm.UDPEncap{SrcPort: c.RemotePort, DstPort: c.LocalPort}
	}
	if c.Mode == ike.ModeTransport {
		sa.Selector = transportSelector(c.RemoteTS, c.LocalTS)
	}
	return sa, setAlgorithms(&sa, c, keys, keys.EncrIn, keys.IntegIn)
}

// outboundSA returns the kernel's form of a CHILD_SA's sending half.
func outboundSA(c *ike.ChildSA, keys *ike.ESPKeys) (xfrm.SA, error) {
	cfg, sa := c.Config, commonSA(c)
	sa.Src, sa.Dst = c.Local, c.Remote
	sa.SPI, sa.Dir, sa.IfID, sa.AcquireSeq = xfrm.SPI(c.SPIOut), xfrm.DirOut, c.IfIDOut, c.AcquireSeq
	_, set := c.SetMarks()
	sa.Mark, sa.OutputMark = xfrm.Mark(c.MarkOut), xfrm.Mark(set)
	if c.Encap {
		sa.Encap = &xfrm.UDPEncap{SrcPort: c.LocalPort, DstPort: c.RemotePort}
	}
	if !cfg.CopyDF {
		sa.Flags |= xfrm.NoPMTUDisc
	}
	if !cfg.CopyDSCPOut {
		sa.Flags |= xfrm.DontEncapDSCP
	}
	if c.Mode == ike.ModeTransport {
		sa.Selector = transportSelector(c.LocalTS, c.RemoteTS)
	} else if !c.NoTFC {
		sa.TFCPad = cfg.TFCPadding
	}
	return sa, setAlgorithms(&sa, c, keys, keys.EncrOut, keys.IntegOut)
}

func commonSA(c *ike.ChildSA) xfrm.SA {
	sa := xfrm.SA{
		Proto: xfrm.ESP,
		Mode:  kernelMode(c.Mode),
		ReqID: c.ReqID,
		CPU:   xfrm.CPU(c.CPU),
		// The kernel ends an SA even when this process is gone.
		Limits: xfrm.Limits{
			HardAdd:   c.LifeTime.Truncate(time.Second),
			SoftBytes: c.RekeyBytes, HardBytes: c.Config.LifeBytes,
			SoftPackets: c.RekeyPackets, HardPackets: c.Config.LifePackets,
		},
	}
	if !c.Config.CopyECN {
		sa.Flags |= xfrm.NoECN
	}
	if c.Mode == ike.ModeTunnel {
		sa.Flags |= xfrm.AFUnspec // IPv6 in IPv4 and the reverse
	}
	return sa
}

func kernelMode(m ike.Mode) xfrm.Mode {
	if m == ike.ModeTransport {
		return xfrm.Transport
	}
	return xfrm.Tunnel
}

// transportSelector narrows a transport mode SA to its only pair of selectors.
func transportSelector(local, remote []ike.TrafficSelector) xfrm.Selector {
	if s := selectors(local, remote); len(s) == 1 {
		return s[0]
	}
	return xfrm.Selector{}
}

func setAlgorithms(sa *xfrm.SA, c *ike.ChildSA, keys *ike.ESPKeys, encr, integ suite.Key) error {
	alg, err := suite.ESPKernelAlg(keys.Encr, keys.Integ)
	if err != nil {
		return fmt.Errorf("no kernel algorithm: %w", err)
	}
	sa.ESN = keys.ESN
	if alg.AEAD != "" {
		sa.AEAD = &xfrm.AEAD{Name: alg.AEAD, Key: keyCopy(encr), ICVBits: alg.ICVBits}
		return nil
	}
	if c.Config.SHA256Trunc96 && keys.Integ.ID == suite.IntegSHA256_128 {
		alg.ICVBits = 96
	}
	sa.Crypt = &xfrm.Crypt{Name: alg.Encr, Key: keyCopy(encr)}
	sa.Auth = &xfrm.Auth{Name: alg.Integ, Key: keyCopy(integ), TruncBits: alg.ICVBits}
	return nil
}

func keyCopy(k suite.Key) xfrm.Key { return append(xfrm.Key(nil), k.Bytes()...) }

// wipe overwrites an SA's keys once the kernel has them.
func wipe(sa *xfrm.SA) {
	if sa.AEAD != nil {
		sa.AEAD.Key.Clear()
	}
	if sa.Crypt != nil {
		sa.Crypt.Key.Clear()
	}
	if sa.Auth != nil {
		sa.Auth.Key.Clear()
	}
}
