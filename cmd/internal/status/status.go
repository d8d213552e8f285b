// Package status is what the daemon publishes about itself: an immutable
// picture that VICI, metrics and show read through one atomic pointer.
package status

import (
	"time"

	"github.com/ipsecd/ipsecd/cmd/internal/config"
	"github.com/ipsecd/ipsecd/cmd/internal/routerproto"
	"github.com/ipsecd/ipsecd/ike"
	"github.com/ipsecd/ipsecd/xfrm"
)

// Status is the state of the daemon at one moment. It holds no keys.
type Status struct {
	Started        time.Time
	Version        string
	Config         *config.Config
	Loaded         *config.Loaded // what VICI clients have loaded into it
	Engine         *ike.Snapshot
	Traffic        map[uint32]Traffic // by ike.ChildSA.ID: what the kernel last counted
	Totals         map[ChildName]Totals
	UpSince        map[ChildName]time.Time // of the children that are up; a rekey does not change it
	Traps          []Trap                  // in the order of the configuration, then those of lost CHILD_SAs by name
	Kernel         Kernel
	Router         *routerproto.Status // nil: no router process, or it has not reported yet
	RouterRestarts int
	Reload         Reload
}

// ChildName names a configured child.
type ChildName struct{ Connection, Child string }

// Trap is a child whose policies wait in the kernel for its traffic.
type Trap struct {
	ChildName
	ReqID             uint32
	Mode              ike.Mode
	LocalTS, RemoteTS []ike.TrafficSelector // with addresses in the place of dynamic ones
}

// Traffic is what the kernel counted for one CHILD_SA.
type Traffic struct {
	BytesIn, PacketsIn   uint64
	BytesOut, PacketsOut uint64
	LastIn, LastOut      time.Time // zero: never
}

// Totals are the sums over all CHILD_SAs that a child has had since the daemon
// started: they do not fall at a rekey.
type Totals struct {
	BytesIn, PacketsIn   uint64
	BytesOut, PacketsOut uint64
	LastIn, LastOut      time.Time
}

// Kernel is what the kernel holds.
type Kernel struct {
	States   int
	Policies []xfrm.Policy
	Errors   map[string]uint64 // /proc/net/xfrm_stat, its own names
	Drift    int               // differences that the last audit repaired

	SocketDrops uint64 // IKE messages for which there was no room before the engine
}

// Reload tells of the last time that the configuration was read.
type Reload struct {
	At        time.Time
	OK        bool
	Err       string
	SuccessAt time.Time // of the last time that it succeeded
}

// Source gives the present status.
type Source interface{ Status() *Status }
