// Package routerproto is what the keying process and the router process say to
// each other over the one socket pair between them.
//
// The keying process sends Config: first of all, and again whenever the
// configuration changes. The router sends Status (whenever something changed,
// and at least every StatusInterval) and Log records. Nothing is acknowledged:
// the live contract between the two is the kernel's link state, and a router
// that lost its parent leaves the kernel's routes as they are.
//
// The package knows neither GoBGP nor the packages bgp and routing, so that the
// keying process does not link them.
package routerproto
