package bgp

import "time"

// Defaults for what a Config leaves zero, and the bounds of what it may say.
const (
	Port = 179

	DefaultHoldTime = 90 * time.Second
	// DefaultConnectRetry is far below RFC 4271's 120 s: a tunnel that comes
	// back is to be used again at once.
	DefaultConnectRetry = 2 * time.Second
	// DefaultRestartTime is how long a neighbour keeps our routes while we
	// restart (RFC 4724 section 3).
	DefaultRestartTime = 120 * time.Second
	// DefaultDeferral is how long a restarted speaker waits for the neighbours'
	// End-of-RIB before it announces anything (RFC 4724 section 4.1).
	DefaultDeferral = 30 * time.Second
	// DefaultImportMax bounds the prefixes of one neighbour: about 360 bytes
	// of memory each, three times that while they arrive.
	DefaultImportMax = 100_000

	// MinHoldTime is RFC 4271 section 4.2's lower bound.
	MinHoldTime = 3 * time.Second
	// MaxTimer bounds every timer: they travel as 16 bits of seconds.
	MaxTimer = 65535 * time.Second
	// MaxRestartTime: the field has 12 bits (RFC 4724 section 3).
	MaxRestartTime = 4095 * time.Second
	// MaxPassword is the kernel's limit for a TCP MD5 key, in bytes.
	MaxPassword = 80

	// MaxRefused bounds the refused prefixes remembered for one neighbour; more
	// are counted only.
	MaxRefused = 100

	// stopTimeout bounds the wait for the last Cease to leave.
	stopTimeout = 3 * time.Second
	// stopPoll is how often the sessions are looked at meanwhile.
	stopPoll = 5 * time.Millisecond
)
