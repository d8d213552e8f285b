package xfrm

import (
	"hash/fnv"
	"slices"
)

// Owner says which kernel objects belong to the daemon:
//
//   - SAs by their reqid: in [ReqIDBase, ReqIDBase+ReqIDCount) or one of ReqIDs
//     (those the configuration fixes);
//   - policies by a template with such a reqid, or by their index, whose top byte
//     Diff asks the kernel to make 0x69;
//   - interfaces by their link alias.
//
// Two things can make a policy of ours lose its index: the kernel had given that
// very number away, or the policy replaced another's. It then counts as ours only
// by its templates.
type Owner struct {
	ReqIDBase, ReqIDCount uint32
	ReqIDs                []uint32
	Alias                 string
}

// DefaultOwner is used unless the configuration says otherwise: one million
// reqids from 0x49500000 ("IP"), far from the small numbers other daemons count
// from.
var DefaultOwner = Owner{ReqIDBase: 0x49500000, ReqIDCount: 1 << 20, Alias: "ipsecd"}

// indexTag is the top byte of the indices of our policies. The kernel counts its
// own from 8 upwards.
const indexTag = 0x69

// OwnsReqID reports whether SAs and templates of this reqid are ours.
func (o Owner) OwnsReqID(reqid uint32) bool {
	return reqid-o.ReqIDBase < o.ReqIDCount || slices.Contains(o.ReqIDs, reqid)
}

// OwnsSA reports whether the SA is ours.
func (o Owner) OwnsSA(sa *SA) bool { return o.OwnsReqID(sa.ReqID) }

// OwnsPolicy reports whether the policy is ours.
func (o Owner) OwnsPolicy(p *Policy) bool {
	if p.Index>>24 == indexTag {
		return true
	}
	return slices.ContainsFunc(p.Templates, func(t Template) bool { return o.OwnsReqID(t.ReqID) })
}

// OwnsInterface reports whether the interface is ours.
func (o Owner) OwnsInterface(i *Interface) bool { return o.Alias != "" && i.Alias == o.Alias }

// Tagged returns the policy with the index by which it is known as ours, as Diff asks the kernel for
// it. What is handed to Diff as present in the kernel without having been dumped needs it.
func (p Policy) Tagged() Policy {
	if p.Index == 0 {
		p.Index = policyIndex(p.ID())
	}
	return p
}

// policyIndex returns the index to ask for: the tag, bits of the policy's
// identity, and in the lowest three bits the kernel's number of the direction.
func policyIndex(id PolicyID) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id.String()))
	return indexTag<<24 | h.Sum32()<<3&0xfffff8 | uint32(kernelDir[id.Dir&3])
}

// kernelDir maps directions of policies to the kernel's numbers.
var kernelDir = [4]uint8{DirIn: 0, DirOut: 1, DirFwd: 2}
