package daemon

import (
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// hw_offload = crypto and packet have the kernel's answer stand; auto takes the best that it does not refuse.
func TestOffload(t *testing.T) {
	const spi = 0xc0000001
	for _, v := range []struct {
		mode, device string
		refusals     int
		want         *xfrm.Offload
		fails        string
	}{
		{"", "eth0", 0, nil, ""},
		{"crypto", "eth0", 0, &xfrm.Offload{Device: "eth0"}, ""},
		{"packet", "eth0", 0, &xfrm.Offload{Device: "eth0", Packet: true}, ""},
		{"crypto", "eth0", 1, nil, "operation not supported"},
		{"crypto", "", 0, nil, "no network device has our address"},
		{"auto", "eth0", 0, &xfrm.Offload{Device: "eth0", Packet: true}, ""},
		{"auto", "eth0", 1, &xfrm.Offload{Device: "eth0"}, ""},
		{"auto", "eth0", 2, nil, ""},
		{"auto", "", 0, nil, ""},
	} {
		r := newRig(t)
		r.deviceOf = func(netip.Addr) string { return v.device }
		k := &refusing{Kernel: r.kernel, left: v.refusals}
		r.installer.kernel = k
		c := testChild(1)
		cfg := *testChildConfig
		cfg.HWOffload = v.mode
		c.Config = &cfg
		r.perform(ike.InstallChild{Child: c, Keys: testKeys()})
		if failed, ok := r.last().(ike.InstallFailed); ok != (v.fails != "") || ok && !strings.Contains(failed.Err.Error(), v.fails) {
			t.Errorf("%+v: %#v", v, r.last())
		}
		if v.fails != "" {
			continue
		}
		info, err := r.kernel.GetSA(xfrm.SAID{Dst: c.Local, SPI: spi, Proto: xfrm.ESP})
		if err != nil || (info.Offload == nil) != (v.want == nil) || v.want != nil && *info.Offload != *v.want {
			t.Errorf("%+v: %v, %v", v, info.Offload, err)
		}
	}
}

// refusing refuses the first SAs with an offload, as drivers do.
type refusing struct {
	xfrm.Kernel
	left int
}

func (k *refusing) AddSA(sa xfrm.SA) error {
	if sa.Offload != nil && k.left > 0 {
		k.left--
		return syscall.EOPNOTSUPP
	}
	return k.Kernel.AddSA(sa)
}
