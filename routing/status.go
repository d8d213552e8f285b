package routing

import "time"

// Stats say what a call did.
type Stats struct {
	// Switched is the time from the start of the call until the kernel had
	// taken lost legs out of every group: from then on no forwarded packet
	// uses one.
	Switched time.Duration
	Duration time.Duration // of the whole call

	LegUpdates    int // nexthop objects of legs written or removed
	GroupUpdates  int // groups created, replaced or removed
	RoutesAdded   int
	RoutesChanged int
	RoutesDeleted int
	Resyncs       int // the kernel was not as expected and was read again
}

func (s *Stats) add(o Stats) {
	s.Duration += o.Duration
	s.LegUpdates += o.LegUpdates
	s.GroupUpdates += o.GroupUpdates
	s.RoutesAdded += o.RoutesAdded
	s.RoutesChanged += o.RoutesChanged
	s.RoutesDeleted += o.RoutesDeleted
	s.Resyncs += o.Resyncs
}

// RouteStatus describes one desired route.
type RouteStatus struct {
	RouteID
	Guard     bool
	Legs      []Leg // as given to Set, sorted
	Active    []Leg // in use by the kernel
	Installed bool
	Err       error // why it is not installed, or why legs are left out
}

// LegStatus describes one leg that a route names.
type LegStatus struct {
	Nexthop
	ID     uint32 // nexthop object, 0 without nexthop objects
	Held   bool   // LegDown was called
	LinkUp bool
	InUse  bool  // the kernel has it and nothing keeps it from being used
	Err    error // why the kernel does not have it, if it refused
}
