package xfrm

import (
	"fmt"
)

// Feature is an ability that not every supported kernel has.
type Feature uint8

// The features that are probed.
const (
	// SADirection: SAs have a direction and the kernel checks their attributes by it.
	SADirection Feature = iota
	// PerCPUSAs: SAs can be bound to a CPU (RFC 9611).
	PerCPUSAs
	// NATKeepalive: the kernel sends NAT keepalives itself.
	NATKeepalive
	// MappingThreshold: mapping events can be limited in rate.
	MappingThreshold
	// DefaultPolicy: packets without a policy can be blocked.
	DefaultPolicy
	// XFRMInterfaces: policies and SAs can be bound to an interface.
	XFRMInterfaces

	numFeatures
)

// featureTable has one row per Feature: its name and the first kernel that has it.
var featureTable = [numFeatures]struct{ name, since string }{
	SADirection:      {"SA direction", "6.10"},
	PerCPUSAs:        {"per-CPU SAs", "6.13"},
	NATKeepalive:     {"NAT keepalives by the kernel", "6.11"},
	MappingThreshold: {"mapping event threshold", "5.17"},
	DefaultPolicy:    {"default policy", "5.14"},
	XFRMInterfaces:   {"XFRM interfaces", "4.19"},
}

// String returns the feature's name.
func (f Feature) String() string {
	if f >= numFeatures {
		return fmt.Sprintf("feature-%d", uint8(f))
	}
	return featureTable[f].name
}

// Since returns the first kernel release that has the feature.
func (f Feature) Since() string {
	if f >= numFeatures {
		return "?"
	}
	return featureTable[f].since
}

// Features is a set of features.
type Features uint32

// NewFeatures returns the set of fs.
func NewFeatures(fs ...Feature) Features {
	var s Features
	for _, f := range fs {
		s |= 1 << f
	}
	return s
}

// Has reports whether the kernel has the feature.
func (s Features) Has(f Feature) bool { return s&(1<<f) != 0 }

// Require returns an error that names the kernel to install when f is missing.
func (s Features) Require(f Feature) error {
	if s.Has(f) {
		return nil
	}
	return fmt.Errorf("xfrm: this kernel has no %v (Linux %s or newer)", f, f.Since())
}
