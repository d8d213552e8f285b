package nl

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/ipsecd/ipsecd/xfrm"
)

// probeAttrs has the attribute by which a kernel that has a feature is known.
var probeAttrs = map[xfrm.Feature]uint16{
	xfrm.SADirection:      attrSADir,
	xfrm.PerCPUSAs:        attrSAPCPU,
	xfrm.NATKeepalive:     attrNATKeepalive,
	xfrm.MappingThreshold: attrMTimerThresh,
	xfrm.XFRMInterfaces:   attrIfID,
}

// probe finds out what the kernel can do. It changes nothing: it asks for an SA
// that cannot exist (SPI 0) with an empty attribute. A kernel that knows the
// attribute complains of its length before it looks; one that does not ignores it
// and finds no SA.
func probe(c *conn) (xfrm.Features, error) {
	nobody := xfrm.SAID{Dst: netip.AddrFrom4([4]byte{127, 0, 0, 1}), Proto: xfrm.ESP}
	var have []xfrm.Feature
	for f, attr := range probeAttrs {
		w := builder{b: appendSAID(nobody)}
		w.attr(attr, nil)
		_, err := c.get(msgGetSA, w.b)
		switch {
		case errors.Is(err, unix.ERANGE), errors.Is(err, unix.EINVAL):
			have = append(have, f)
		case errors.Is(err, unix.ESRCH):
		default:
			return 0, kernelError("probe the kernel for", f.String(), errOr(err))
		}
	}
	// XFRM_MSG_GETDEFAULT came with XFRM_MSG_SETDEFAULT.
	_, err := c.get(msgGetDefault, make([]byte, sizePolicyDefault))
	switch {
	case err == nil:
		have = append(have, xfrm.DefaultPolicy)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
	default:
		return 0, kernelError("probe the kernel for", xfrm.DefaultPolicy.String(), err)
	}
	return xfrm.NewFeatures(have...), nil
}

// errOr stands in for the missing error of a request that had to fail.
func errOr(err error) error {
	if err == nil {
		return errors.New("the kernel found an SA of SPI 0")
	}
	return err
}
