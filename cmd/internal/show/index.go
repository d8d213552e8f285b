package show

import (
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/cmd/internal/status"
	"github.com/ipsecd/ipsecd/ike"
)

// index finds what belongs to a tunnel without searching.
type index struct {
	st         *status.Status
	ike        map[string]*ike.IKESAInfo // by connection: an established one, if there is one
	child      map[status.ChildName]liveChild
	interfaces map[uint32]string // by if_id
	peers      map[string][]*routerproto.Peer
	routes     map[string]int // by interface
}

// liveChild is the CHILD_SA that stands for a configured child.
type liveChild struct {
	ike       *ike.IKESAInfo
	info      *ike.ChildInfo
	succeeded bool // a REKEYED one whose successor is being installed
}

// up reports whether the child's packets pass. A rekey does not interrupt them.
func (c liveChild) up() bool {
	if c.info == nil {
		return false
	}
	return c.info.State == ike.ChildInstalled || c.info.State == ike.ChildRekeying || c.info.State == ike.ChildRekeyed && c.succeeded
}

// precedence of the states a child may be in at once, in the course of a rekey.
var precedence = map[ike.ChildState]int{
	ike.ChildInstalled: 5, ike.ChildRekeying: 4, ike.ChildRekeyed: 3, ike.ChildInstalling: 2, ike.ChildDeleting: 1,
}

func newIndex(st *status.Status) *index {
	x := &index{
		st:         st,
		ike:        make(map[string]*ike.IKESAInfo, len(st.Engine.IKESAs)),
		child:      make(map[status.ChildName]liveChild, len(st.Engine.IKESAs)),
		interfaces: map[uint32]string{},
		peers:      map[string][]*routerproto.Peer{},
		routes:     map[string]int{},
	}
	for i := range st.Engine.IKESAs {
		x.addSA(&st.Engine.IKESAs[i])
	}
	if st.Config != nil {
		for _, i := range st.Config.Interfaces {
			x.interfaces[i.IfID] = i.Name
		}
	}
	if st.Router != nil {
		x.addRouter(st.Router)
	}
	return x
}

func (x *index) addSA(sa *ike.IKESAInfo) {
	if old := x.ike[sa.Connection]; old == nil || old.State != ike.IKEEstablished {
		x.ike[sa.Connection] = sa
	}
	for i := range sa.Children {
		c := &sa.Children[i]
		name := status.ChildName{Connection: sa.Connection, Child: c.SA.Config.Name}
		old := x.child[name]
		best := old
		if old.info == nil || precedence[c.State] >= precedence[old.info.State] {
			best.ike, best.info = sa, c
		}
		best.succeeded = old.succeeded || c.State == ike.ChildInstalling
		x.child[name] = best
	}
}

func (x *index) addRouter(r *routerproto.Status) {
	for i := range r.Peers {
		p := &r.Peers[i]
		x.peers[p.Interface] = append(x.peers[p.Interface], p)
	}
	for _, t := range r.Tunnels {
		x.routes[t.Interface] = t.Routes
	}
}
