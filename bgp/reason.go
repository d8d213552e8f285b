package bgp

import "strings"

// downReason words GoBGP's reason for a session's end for the person who must act.
func downReason(s string) string {
	switch s {
	case "dying":
		return "removed from the configuration"
	case "read-failed":
		return "the neighbour closed the connection"
	case "write-failed":
		return "the connection broke"
	case "hold-timer-expired":
		return "hold timer expired: nothing was heard from the neighbour"
	case "graceful-restart":
		return "the connection was lost; the neighbour's routes are kept for its restart time"
	case "restart-timer-expired":
		return "the neighbour did not come back within its restart time"
	case "invalid-msg":
		return "the neighbour did not accept our OPEN: compare the AS numbers, addresses and passwords at both ends"
	case "admin-down":
		return "shut down by the administrator"
	}
	s = strings.Replace(s, "notification-sent ", "we sent a notification: ", 1)
	return strings.Replace(s, "notification-received ", "the neighbour sent a notification: ", 1)
}
