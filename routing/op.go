package routing

import "fmt"

var verbs = [...]string{
	AddNexthop:     "nexthop add",
	ReplaceNexthop: "nexthop replace",
	DeleteNexthop:  "nexthop del",
	AddRoute:       "route add",
	ReplaceRoute:   "route replace",
	DeleteRoute:    "route del",
}

// String returns the operation as ip(8) would be told to do it.
func (op Op) String() string {
	if op.Verb <= DeleteNexthop {
		return fmt.Sprintf("%s id %d", verbs[op.Verb], op.Nexthop.ID)
	}
	return fmt.Sprintf("%s %s", verbs[op.Verb], op.Route.RouteID)
}
