package config

import "time"

// What the daemon uses where the files say nothing. The defaults of the engine
// are in package ike, those of the BGP timers in package bgp.
const (
	// DefaultPath is the file that the daemon reads unless told otherwise.
	DefaultPath = "/etc/ipsecd/ipsecd.conf"
	// DefaultVICI is where strongSwan's swanctl looks for the daemon.
	DefaultVICI = "unix:///var/run/charon.vici"
	// DefaultMTU leaves room for ESP in UDP over IPv6 on an Ethernet path.
	DefaultMTU = 1400

	DefaultIKEPort  = 500
	DefaultNATTPort = 4500

	DefaultMetric      = 20
	DefaultGuardMetric = 1_000_000
	DefaultMaxPaths    = 16
	DefaultTable       = 254 // main
	DefaultSourceTable = 220 // of source routes, and the preference of its rule

	// DefaultFetchTimeout is strongSwan's, for all that is fetched about one certificate.
	DefaultFetchTimeout = 10 * time.Second

	// DefaultUpdownTimeout is long for a script that sets firewall rules.
	DefaultUpdownTimeout = 30 * time.Second
)

// Bounds of what the files may say.
const (
	minMTU            = 576
	minMTUv6          = 1280 // RFC 8200 section 5
	maxMTU            = 65535
	maxReplayWindow   = 4096 // the kernel's
	maxPaths          = 256
	maxInterfaceName  = 15        // the kernel's, in octets
	maxSecretFile     = 64 << 10  // octets
	maxCredentialFile = 32 << 20  // octets; CRLs of large CAs are that long
	maxDuration       = 10 * year // far below what overflows
	year              = 365 * 24 * time.Hour

	minHoldTime    = 3 * time.Second     // RFC 4271 section 4.2
	maxBGPTimer    = 65535 * time.Second // 16 bits on the wire
	maxMD5Password = 80                  // the kernel's, in octets
)
