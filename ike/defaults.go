package ike

import (
	"time"

	"github.com/ipsecd/ipsecd/ike/wire"
)

// DefaultLimits are safe for a gateway with some thousand peers.
func DefaultLimits() Limits {
	return Limits{
		HalfOpenTotal:    10000,
		HalfOpenPerIP:    1000,
		CookieThreshold:  30,
		CookiePerIP:      3,
		ChildrenPerIKE:   256,
		PerCPUSAs:        64,
		IKESAsPerPeer:    8,
		QueuedExchanges:  1024,
		HalfOpenDecrypts: 8,
	}
}

// DefaultTiming is strongSwan's, where it has a value.
func DefaultTiming() Timing {
	return Timing{
		RetransmitTimeout: 4 * time.Second,
		RetransmitBase:    1.8,
		RetransmitTries:   5,
		HalfOpenTimeout:   30 * time.Second,
		KeepAlive:         20 * time.Second,
		DeleteDelay:       5 * time.Second,
		RetryInitial:      2 * time.Second,
		RetryMax:          60 * time.Second,
		CookieLifetime:    2 * time.Minute,
	}
}

// DefaultConnection returns a Connection with swanctl.conf's defaults.
// Proposals stay empty.
func DefaultConnection() Connection {
	const rekey = 4 * time.Hour
	return Connection{
		LocalPort:     500,
		RemotePort:    500,
		KeyingTries:   1,
		RekeyTime:     rekey,
		OverTime:      rekey / 10,
		RandTime:      rekey / 10,
		Fragmentation: true,
		MOBIKE:        true,
		SendCertReq:   true,
	}
}

// DefaultChild returns a ChildConfig with swanctl.conf's defaults. Proposals
// and selectors stay empty.
func DefaultChild() ChildConfig {
	const rekey = time.Hour
	return ChildConfig{
		RekeyTime:    rekey,
		LifeTime:     rekey + rekey/10,
		RandTime:     rekey / 10,
		ReplayWindow: 32,
		Policies:     true,
		CopyDF:       true,
		Handling:     Handling{CopyECN: true, CopyDSCPOut: true},
	}
}

// What is not configurable.
const (
	ikePort  = 500
	nattPort = 4500

	// lastMessageID is the message ID from which we rekey the IKE SA with every request.
	lastMessageID = 1 << 31

	// Notes about unauthenticated messages: at most so many at once, and so many a second.
	strangerBurst = 50
	strangerRate  = 5

	// defaultFragment is the longest IP packet of a fragmented IKE message where nothing is configured: strongSwan's.
	defaultFragment = 1280

	// maxExplained is how many candidates a message about a refusal goes through.
	maxExplained = 4

	// maxInitJobs is how many key exchanges for IKE_SA_INIT requests may be under way at once, half of them for one
	// address; what comes then is asked for again by its sender. Beyond fairInitJobs, an address's come after all others'.
	maxInitJobs  = 1024
	fairInitJobs = 16

	// maxVerifications is how many connections a peer's certificate is tried with.
	maxVerifications = 16

	// maxRedirects is how often IKE_SA_INIT is begun anew for cookies and other groups.
	maxRedirects = 5

	// maxInitAnswers is how many answers to IKE_SA_INIT are kept until one is seen to be the peer's.
	maxInitAnswers = 4

	// repeatsOfInit is how often what follows IKE_SA_INIT is sent before another answer to that is tried. With
	// the repetition, IKE_SA_INIT goes out again, too.
	repeatsOfInit = 2

	// initErrorGrace is how long an error answer to IKE_SA_INIT, which anybody can forge, waits for a better one.
	initErrorGrace = 2 * time.Second

	// maxEarlyDeletes is how many SPIs are remembered that the peer deleted before its response came.
	maxEarlyDeletes = 16

	// ghostTime is how long the last answer of an ended IKE SA can be asked for again.
	ghostTime = 30 * time.Second

	// lingerMargin is added to the time of all retransmissions, where we wait for a
	// request that the peer owes us.
	lingerMargin = 10 * time.Second

	// redundantTime is how long an IKE SA that lost a collision waits for its initiator to delete it.
	redundantTime = 30 * time.Second

	// supersededTime is how long an IKE SA stays beside a newer one of the same peer, with unique = replace: strongSwan's.
	supersededTime = 10 * time.Second
	// gatherAfter is the age from which two IKE SAs with one peer are made one.
	gatherAfter = 30 * time.Second

	// maxAdditional is how many further addresses we name with MOBIKE, and remember of the peer's.
	maxAdditional = 16

	// maxVirtual is how many virtual addresses, and name servers, one end of an IKE SA may have.
	maxVirtual = 16

	// virtualPrefix6 is the prefix length that we send with an IPv6 address, as charon does.
	virtualPrefix6 = 64

	// cookie2Len and maxCookie2 are octets of a COOKIE2 (RFC 4555 section 4.2.5: from 8 to 64).
	cookie2Len, maxCookie2 = 16, 64

	// probeAfter is how often a request is sent on one path before MOBIKE tries another.
	probeAfter = 2

	// minAuthLifetime is the least that AUTH_LIFETIME of a peer counts for, so that it cannot keep us busy.
	minAuthLifetime = 6 * time.Second

	// followupTime is how long a peer may take to go on with additional key exchanges (RFC 9370 section 2.2.4: 5 to 20 seconds).
	followupTime = 20 * time.Second

	// maxPending is how many CREATE_CHILD_SA exchanges of a peer may wait for additional key exchanges on one IKE SA.
	maxPending = 4

	// linkLength octets name such an exchange.
	linkLength = 8

	// maxNameAddrs is how many addresses of a host name are tried; nameAge is from which age they are
	// looked up again for a peer that comes.
	maxNameAddrs = 16
	nameAge      = 30 * time.Second

	// maxPeersByTrap is how many peers one connection for any may have when traffic asks for another;
	// maxAttemptsByTrap is how many of them are set up at once because of traffic.
	maxPeersByTrap    = 4096
	maxAttemptsByTrap = 256

	// maxRedirected redirects are followed within redirectPeriod (RFC 5685 section 8).
	maxRedirected  = 5
	redirectPeriod = 300 * time.Second

	// temporaryRetry, and as much again at random, passes after TEMPORARY_FAILURE (RFC 7296 section 2.25).
	temporaryRetry = 3 * time.Second
)

// wireLimits bound the parser, before anything is verified.
var wireLimits = wire.Limits{}
