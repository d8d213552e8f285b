package xfrm

import (
	"errors"
	"fmt"
	"time"
)

// MaxReplayWindow is the largest window the kernel accepts, in packets.
const MaxReplayWindow = 4096

// MaxTemplates is the largest number of templates a policy may have.
const MaxTemplates = 6

// Flags that make sense in one direction only; Linux 6.10 and later refuse them
// in the other.
const (
	inOnlyFlags  = DecapDSCP | WildRecv | ICMP
	outOnlyFlags = NoPMTUDisc | DontEncapDSCP | OSeqMayWrap
)

// Check reports what is wrong with a wanted SA. The kernel would refuse most of
// it with a bare EINVAL, and quietly install an SA without replay protection.
func (sa *SA) Check() error {
	var problem string
	switch {
	case sa.Dir != DirIn && sa.Dir != DirOut:
		problem = "has no direction"
	case !sa.Src.IsValid() || !sa.Dst.IsValid() || sa.Src.Is4() != sa.Dst.Is4():
		problem = "needs source and destination of one address family"
	case sa.SPI < 256:
		// RFC 4303 section 2.1: 0 is for local use, 1 to 255 are reserved.
		problem = "has a reserved SPI"
	case sa.Proto != ESP && sa.Proto != AH:
		problem = "is neither ESP nor AH"
	case sa.Mode != Transport && sa.Mode != Tunnel && sa.Mode != BEET:
		problem = "has an unknown mode"
	case sa.Encap != nil && sa.Proto != ESP:
		problem = "has UDP encapsulation, which is for ESP only"
	default:
		problem = sa.algorithmProblem()
	}
	if problem == "" {
		problem = sa.directionProblem()
	}
	if problem != "" {
		return fmt.Errorf("xfrm: SA %v->%v %v spi %v %s", sa.Src, sa.Dst, sa.Proto, sa.SPI, problem)
	}
	return nil
}

func (sa *SA) algorithmProblem() string {
	switch {
	case sa.AEAD != nil && (sa.Crypt != nil || sa.Auth != nil):
		return "has an AEAD and a separate cipher or integrity algorithm"
	case sa.Proto == AH && (sa.AEAD != nil || sa.Crypt != nil || sa.Auth == nil):
		return "is AH and needs an integrity algorithm only"
	case sa.AEAD == nil && sa.Auth == nil:
		// RFC 8221 section 4: encryption without authentication is forbidden.
		return "has no integrity protection"
	case sa.AEAD == nil && sa.Crypt == nil && sa.Proto == ESP:
		return `needs a cipher; "ecb(cipher_null)" for none`
	}
	return ""
}

func (sa *SA) directionProblem() string {
	in := sa.Dir == DirIn
	switch {
	case sa.ReplayWindow > MaxReplayWindow:
		return fmt.Sprintf("has a replay window of %d packets; the kernel's limit is %d", sa.ReplayWindow, MaxReplayWindow)
	case !in && sa.ReplayWindow != 0:
		return "is outbound and has a replay window"
	// RFC 4303 section 3.4.3.
	case in && sa.ReplayWindow == 0 && sa.ESN:
		return "has extended sequence numbers without a replay window"
	case in && sa.ReplayWindow == 0 && !sa.ReplayOff:
		return "is inbound and has no replay window"
	case in && sa.Flags&outOnlyFlags != 0:
		return "is inbound and has flags for outbound SAs"
	case !in && sa.Flags&inOnlyFlags != 0:
		return "is outbound and has flags for inbound SAs"
	case sa.MappingThreshold != 0 && (!in || sa.Encap == nil):
		return "has a mapping threshold but is not inbound with UDP encapsulation"
	case sa.NATKeepalive != 0 && (in || sa.Encap == nil):
		return "sends NAT keepalives but is not outbound with UDP encapsulation"
	}
	return ""
}

// Check reports what is wrong with a wanted policy.
func (p *Policy) Check() error {
	s := p.Selector
	var err error
	switch {
	case p.Dir != DirIn && p.Dir != DirOut && p.Dir != DirFwd:
		err = errors.New("has no direction")
	case !s.Src.IsValid() || !s.Dst.IsValid() || s.Src.Addr().Is4() != s.Dst.Addr().Is4():
		err = errors.New("needs source and destination prefixes of one address family")
	case s.Src != s.Src.Masked() || s.Dst != s.Dst.Masked():
		err = errors.New("has host bits set in a prefix")
	case len(p.Templates) > MaxTemplates:
		err = fmt.Errorf("has %d templates; the kernel's limit is %d", len(p.Templates), MaxTemplates)
	case p.Action == Block && len(p.Templates) != 0:
		err = errors.New("blocks and has templates")
	}
	for _, t := range p.Templates {
		if t.Mode == Tunnel && t.Optional && p.Dir == DirOut {
			err = errors.New("is outbound and has an optional tunnel template")
		}
	}
	if err != nil {
		return fmt.Errorf("xfrm: policy %v %w", p.ID(), err)
	}
	return nil
}

// wholeSeconds rounds up: a limit must not come earlier than asked for, and never
// become none.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
