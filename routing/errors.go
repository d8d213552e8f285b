package routing

import (
	"fmt"
	"strings"
)

// ForeignRouteError says that a route of someone else occupies the place of
// ours. Ours is installed when the other one goes away.
type ForeignRouteError struct {
	RouteID
	Protocol uint8 // its owner, see /etc/iproute2/rt_protos
}

func (e *ForeignRouteError) Error() string {
	return fmt.Sprintf("routing: route %s belongs to protocol %d and is not replaced: remove it or set another routing.metric",
		e.RouteID, e.Protocol)
}

// RefusedError says that legs of a route are not used because of the Policy.
// If all legs are refused, the route is not installed.
type RefusedError struct {
	RouteID
	Legs   []Leg
	Reason string
}

func (e *RefusedError) Error() string {
	var legs []string
	for _, l := range e.Legs {
		legs = append(legs, l.Nexthop.String())
	}
	return fmt.Sprintf("routing: route %s refused over %s: %s", e.RouteID, strings.Join(legs, ", "), e.Reason)
}

// OpError is an operation that the kernel refused.
type OpError struct {
	Op  Op
	Err error
}

func (e *OpError) Error() string { return fmt.Sprintf("routing: %s: %v", e.Op, e.Err) }

// Unwrap returns the kernel's error.
func (e *OpError) Unwrap() error { return e.Err }

// Errors are the failures of one call, one for each object that failed. What
// is not among them succeeded.
type Errors []error

// maxPrinted bounds the text of Errors; callers find all of them in the slice.
const maxPrinted = 8

func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i == maxPrinted {
			fmt.Fprintf(&b, "\n… and %d more", len(e)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap lets errors.Is and errors.As look at every failure.
func (e Errors) Unwrap() []error { return e }
