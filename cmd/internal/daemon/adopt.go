package daemon

import (
	"fmt"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// adopt takes up CHILD_SAs that the process before has installed: what install, installOutbound and links.up have done there
// counts as done here. The engine hears of each SA that the kernel does not have any more. takeOver comes after it.
func (in *installer) adopt(children []*ike.ChildSA) error {
	dump, err := in.kernel.SAs()
	if err != nil {
		return fmt.Errorf("reading SAs: %w", err)
	}
	have := make(map[xfrm.SAID]*xfrm.SAInfo, len(dump))
	for i := range dump {
		wipe(&dump[i].SA)
		have[dump[i].ID()] = &dump[i]
	}
	for _, sa := range children {
		in.adoptChild(sa, have)
	}
	return nil
}

func (in *installer) adoptChild(sa *ike.ChildSA, have map[xfrm.SAID]*xfrm.SAInfo) {
	inID := xfrm.SAID{Dst: sa.Local, SPI: xfrm.SPI(sa.SPIIn), Proto: xfrm.ESP}
	if sa.Config.MarkInSA {
		inID.Mark = xfrm.Mark(sa.MarkIn)
	}
	outID := xfrm.SAID{Dst: sa.Remote, SPI: xfrm.SPI(sa.SPIOut), Proto: xfrm.ESP, Mark: xfrm.Mark(sa.MarkOut)}
	c := &installed{sa: sa, policies: policies(sa)}
	c.in = in.adoptHalf(sa.ID, have[inID], xfrm.DirIn)
	c.out = in.adoptHalf(sa.ID, have[outID], xfrm.DirOut)
	for id, h := range map[xfrm.SAID]*half{inID: c.in, outID: c.out} {
		if h == nil {
			in.emit(ike.Expire{SPI: uint32(id.SPI), Dst: id.Dst, Hard: true})
		}
	}
	if c.out != nil {
		offloaded(c.out.sa.Offload, nil, c.policies)
	}
	in.children[sa.ID] = c
	in.policies.use(sa.ID, c.policies)
	in.links.use(sa.IfIDOut, status.ChildName{Connection: sa.Connection, Child: sa.Config.Name})
}

// adoptHalf counts from where the kernel is.
func (in *installer) adoptHalf(child uint32, info *xfrm.SAInfo, dir xfrm.Dir) *half {
	if info == nil {
		return nil
	}
	sa := info.SA
	sa.Dir = dir
	h := in.track(child, sa)
	h.seen = info.Counters
	h.status = halfTraffic{bytes: info.Bytes, packets: info.Packets}
	return h
}

// adopted returns the SAs that the kernel shall keep.
func (in *installer) adopted() []xfrm.SA {
	var list []xfrm.SA
	for _, c := range in.children {
		for _, h := range []*half{c.in, c.out} {
			if h != nil {
				list = append(list, h.sa)
			}
		}
	}
	return list
}
