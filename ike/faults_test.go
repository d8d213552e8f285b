package ike

import (
	"testing"
)

// The tests whose names begin with TestFault are named for published faults of IKE daemons;
// docs/published-faults.md lists them all. Those of this file send inputs of the corpus.

// Lengths that lie.

func TestFault_F5_1073_ProposalSPISize(t *testing.T) {
	hostile(t, "f5-1073-proposal-spi-size", "notify-spi-size")
}

func TestFault_F5_968_HeaderOnly(t *testing.T) { hostile(t, "f5-968-header-only") }

func TestFault_F5_989_NoProposal(t *testing.T) { hostile(t, "f5-989-no-proposal") }

func TestFault_F5_938_ShortEAP(t *testing.T) { hostile(t, "f5-938-eap-of-four-octets") }

func TestFault_OpenIKED_0a4f11a_EAPLength(t *testing.T) { hostile(t, "openiked-0a4f11a-eap-length") }

func TestFault_OpenIKED_2695060_LongIdentity(t *testing.T) {
	hostile(t, "openiked-2695060-long-identity")
}

func TestFault_CVE_2023_41913_PublicValueLength(t *testing.T) {
	hostile(t, "cve-2023-41913-long-public-value", "cve-2023-41913-short-public-value")
}

func TestFault_CVE_2018_5388_LengthField(t *testing.T) {
	hostile(t, "length-beyond-datagram", "length-below-datagram")
}

func TestFault_CVE_2025_9242_LongIdentity(t *testing.T) { hostile(t, "cve-2025-9242-long-key-id") }

func TestFault_CVE_2025_14733_Certificates(t *testing.T) { hostile(t, "cve-2025-14733-certificates") }

func TestFault_CVE_2023_23009_SelectorLength(t *testing.T) {
	hostile(t, "cve-2023-23009-selector-length", "cve-2023-23009-selector-count", "cve-2023-23009-in-ike-auth", "delete-count")
}

// Lengths of 0, at which a reader would not advance.

func TestFault_CVE_2025_20253_LengthZero(t *testing.T) {
	hostile(t, "cve-2025-20253-payload-of-length-0", "cve-2025-20253-proposal-of-length-0", "cve-2025-20253-transform-of-length-0",
		"cve-2025-20253-selector-of-length-0", "cve-2025-20253-payload-of-length-0-inside")
}

// One request, one answer, nothing unasked.

func TestFault_CVE_2016_5361_Amplification(t *testing.T) { hostile(t, "cve-2016-5361-plain-request") }

// What is missing, odd or too early.

func TestFault_CVE_2016_5391_NoKeyExchange(t *testing.T) {
	hostile(t, "cve-2016-5391-no-key-exchange")
}

func TestFault_CVE_2014_9221_PrivateGroup(t *testing.T) {
	hostile(t, "cve-2014-9221-private-group", "cve-2014-9221-private-group-in-ke")
}

func TestFault_CVE_2018_10811_UnavailablePRF(t *testing.T) {
	hostile(t, "cve-2018-10811-prf-not-available")
}

func TestFault_CVE_2023_21758_MissingPayloads(t *testing.T) {
	hostile(t, "cve-2023-21758-no-sa", "cve-2023-21758-no-ke", "cve-2023-21758-no-nonce", "cve-2023-21758-two-ke", "cve-2023-21758-fragment",
		"ike-auth-without-identity")
}

func TestFault_CVE_2019_12312_BeforeAuth(t *testing.T) {
	hostile(t, "cve-2019-12312-informational-before-auth", "cve-2019-12312-delete-before-auth")
}

func TestFault_CVE_2014_2338_RekeyBeforeAuth(t *testing.T) {
	hostile(t, "cve-2014-2338-rekey-before-auth")
}

// IKEv1, which is not for these connections.

func TestFault_CVE_2015_3204_IKEv1DOI(t *testing.T) { hostile(t, "cve-2015-3204-ikev1-doi") }

func TestFault_CVE_2019_10155_IKEv1Informational(t *testing.T) {
	hostile(t, "cve-2019-10155-ikev1-informational")
}

func TestFault_CVE_2020_1763_IKEv1WithoutState(t *testing.T) {
	hostile(t, "cve-2020-1763-ikev1-informational")
}

func TestFault_CVE_2023_30570_IKEv1Aggressive(t *testing.T) {
	hostile(t, "cve-2023-30570-ikev1-aggressive")
}

func TestFault_CVE_2023_38711_IKEv1Quick(t *testing.T) { hostile(t, "cve-2023-38711-ikev1-quick") }

// Values that reach an assertion elsewhere.

func TestFault_CVE_2015_3240_ZeroPublicValue(t *testing.T) {
	hostile(t, "cve-2015-3240-zero-modp", "cve-2015-3240-one-modp", "cve-2015-3240-zero-x25519")
}

func TestFault_CVE_2026_35332_NoPoint(t *testing.T) {
	hostile(t, "cve-2026-35332-point-off-the-curve", "cve-2026-35332-point-of-zeros")
}

func TestFault_CVE_2016_3071_AESXCBC(t *testing.T) { hostile(t, "cve-2016-3071-aes-xcbc") }

func TestFault_CVE_2024_3652_GMAC(t *testing.T) { hostile(t, "cve-2024-3652-gmac") }

func TestFault_Openswan_489_ShortNonce(t *testing.T) {
	hostile(t, "openswan-489-nonce-of-0", "openswan-489-nonce-of-7", "openswan-489-nonce-of-15", "openswan-489-nonce-of-257")
}

// Weak algorithms, offered alone.

func TestFault_F5_972_Group1(t *testing.T) { hostile(t, "f5-972-group-1") }

func TestFault_F5_973_NullWithoutIntegrity(t *testing.T) {
	hostile(t, "f5-973-null-without-integrity", "f5-973-null-with-none", "f5-973-cbc-without-integrity")
}

func TestFault_F5_974_MD5(t *testing.T) { hostile(t, "f5-974-md5-group-2", "f5-974-3des-md5") }

// Octets of a peer in a place that interprets them.

func TestFault_CVE_2023_28771_Injection(t *testing.T) { hostile(t, "cve-2023-28771-shell") }

// What RFC 7296 section 2.5 wants of both kinds.

func TestUnknownInInit(t *testing.T) {
	hostile(t, "unknown-critical-payload", "unknown-payload", "major-version-3", "payloads-in-another-order")
}
