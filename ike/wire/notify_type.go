package wire

// NotifyType is a Notify Message Type (RFC 7296 section 3.10.1).
type NotifyType uint16

// firstStatus divides the numbers: below are errors, from here on status types.
const firstStatus NotifyType = 16384

// IsError reports whether the type reports an error rather than a status.
func (t NotifyType) IsError() bool { return t < firstStatus }

// Error types. Their names in the RFCs are what String returns.
const (
	NotifyUnsupportedCriticalPayload NotifyType = 1
	NotifyInvalidIKESPI              NotifyType = 4
	NotifyInvalidMajorVersion        NotifyType = 5
	NotifyInvalidSyntax              NotifyType = 7
	NotifyInvalidMessageID           NotifyType = 9
	NotifyInvalidSPI                 NotifyType = 11
	NotifyNoProposalChosen           NotifyType = 14
	NotifyInvalidKEPayload           NotifyType = 17
	NotifyAuthenticationFailed       NotifyType = 24
	NotifySinglePairRequired         NotifyType = 34
	NotifyNoAdditionalSAs            NotifyType = 35
	NotifyInternalAddressFailure     NotifyType = 36
	NotifyFailedCPRequired           NotifyType = 37
	NotifyTSUnacceptable             NotifyType = 38
	NotifyInvalidSelectors           NotifyType = 39
	NotifyUnacceptableAddresses      NotifyType = 40 // RFC 4555
	NotifyUnexpectedNATDetected      NotifyType = 41 // RFC 4555
	NotifyTemporaryFailure           NotifyType = 43
	NotifyChildSANotFound            NotifyType = 44
	NotifyAuthorizationFailed        NotifyType = 46
	NotifyStateNotFound              NotifyType = 47 // RFC 9370
	NotifyTSMaxQueue                 NotifyType = 48 // RFC 9611
)

// Status types. Their names in the RFCs are what String returns.
const (
	NotifyInitialContact            NotifyType = 16384
	NotifySetWindowSize             NotifyType = 16385
	NotifyAdditionalTSPossible      NotifyType = 16386
	NotifyIPCOMPSupported           NotifyType = 16387
	NotifyNATDetectionSourceIP      NotifyType = 16388
	NotifyNATDetectionDestinationIP NotifyType = 16389
	NotifyCookie                    NotifyType = 16390
	NotifyUseTransportMode          NotifyType = 16391
	NotifyHTTPCertLookupSupported   NotifyType = 16392
	NotifyRekeySA                   NotifyType = 16393
	NotifyESPTFCPaddingNotSupported NotifyType = 16394
	NotifyNonFirstFragmentsAlso     NotifyType = 16395
	NotifyMOBIKESupported           NotifyType = 16396 // RFC 4555
	NotifyAdditionalIP4Address      NotifyType = 16397 // RFC 4555
	NotifyAdditionalIP6Address      NotifyType = 16398 // RFC 4555
	NotifyNoAdditionalAddresses     NotifyType = 16399 // RFC 4555
	NotifyUpdateSAAddresses         NotifyType = 16400 // RFC 4555
	NotifyCookie2                   NotifyType = 16401 // RFC 4555
	NotifyNoNATsAllowed             NotifyType = 16402 // RFC 4555
	NotifyAuthLifetime              NotifyType = 16403 // RFC 4478
	NotifyMultipleAuthSupported     NotifyType = 16404 // RFC 4739
	NotifyAnotherAuthFollows        NotifyType = 16405 // RFC 4739
	NotifyRedirectSupported         NotifyType = 16406 // RFC 5685
	NotifyRedirect                  NotifyType = 16407 // RFC 5685
	NotifyRedirectedFrom            NotifyType = 16408 // RFC 5685
	NotifyTicketLTOpaque            NotifyType = 16409 // RFC 5723
	NotifyTicketRequest             NotifyType = 16410 // RFC 5723
	NotifyTicketAck                 NotifyType = 16411 // RFC 5723
	NotifyTicketNack                NotifyType = 16412 // RFC 5723
	NotifyTicketOpaque              NotifyType = 16413 // RFC 5723
	NotifyEAPOnlyAuthentication     NotifyType = 16417 // RFC 5998
	NotifyChildlessIKEv2Supported   NotifyType = 16418 // RFC 6023
	NotifyQuickCrashDetection       NotifyType = 16419 // RFC 6290
	NotifyFragmentationSupported    NotifyType = 16430 // RFC 7383
	NotifySignatureHashAlgorithms   NotifyType = 16431 // RFC 7427
	NotifyUsePPK                    NotifyType = 16435 // RFC 8784
	NotifyPPKIdentity               NotifyType = 16436 // RFC 8784
	NotifyNoPPKAuth                 NotifyType = 16437 // RFC 8784
	NotifyIntermediateSupported     NotifyType = 16438 // RFC 9242
	NotifyAdditionalKeyExchange     NotifyType = 16441 // RFC 9370
	NotifyUseAggFrag                NotifyType = 16442 // RFC 9347
	NotifySupportedAuthMethods      NotifyType = 16443 // RFC 9593
	NotifySAResourceInfo            NotifyType = 16444 // RFC 9611
)

// notifyNames are the names of all assigned types, also of those that this project never sends.
var notifyNames = map[NotifyType]string{
	1:  "UNSUPPORTED_CRITICAL_PAYLOAD",
	4:  "INVALID_IKE_SPI",
	5:  "INVALID_MAJOR_VERSION",
	7:  "INVALID_SYNTAX",
	9:  "INVALID_MESSAGE_ID",
	11: "INVALID_SPI",
	14: "NO_PROPOSAL_CHOSEN",
	17: "INVALID_KE_PAYLOAD",
	24: "AUTHENTICATION_FAILED",
	34: "SINGLE_PAIR_REQUIRED",
	35: "NO_ADDITIONAL_SAS",
	36: "INTERNAL_ADDRESS_FAILURE",
	37: "FAILED_CP_REQUIRED",
	38: "TS_UNACCEPTABLE",
	39: "INVALID_SELECTORS",
	40: "UNACCEPTABLE_ADDRESSES",
	41: "UNEXPECTED_NAT_DETECTED",
	42: "USE_ASSIGNED_HoA",
	43: "TEMPORARY_FAILURE",
	44: "CHILD_SA_NOT_FOUND",
	45: "INVALID_GROUP_ID",
	46: "AUTHORIZATION_FAILED",
	47: "STATE_NOT_FOUND",
	48: "TS_MAX_QUEUE",

	16384: "INITIAL_CONTACT",
	16385: "SET_WINDOW_SIZE",
	16386: "ADDITIONAL_TS_POSSIBLE",
	16387: "IPCOMP_SUPPORTED",
	16388: "NAT_DETECTION_SOURCE_IP",
	16389: "NAT_DETECTION_DESTINATION_IP",
	16390: "COOKIE",
	16391: "USE_TRANSPORT_MODE",
	16392: "HTTP_CERT_LOOKUP_SUPPORTED",
	16393: "REKEY_SA",
	16394: "ESP_TFC_PADDING_NOT_SUPPORTED",
	16395: "NON_FIRST_FRAGMENTS_ALSO",
	16396: "MOBIKE_SUPPORTED",
	16397: "ADDITIONAL_IP4_ADDRESS",
	16398: "ADDITIONAL_IP6_ADDRESS",
	16399: "NO_ADDITIONAL_ADDRESSES",
	16400: "UPDATE_SA_ADDRESSES",
	16401: "COOKIE2",
	16402: "NO_NATS_ALLOWED",
	16403: "AUTH_LIFETIME",
	16404: "MULTIPLE_AUTH_SUPPORTED",
	16405: "ANOTHER_AUTH_FOLLOWS",
	16406: "REDIRECT_SUPPORTED",
	16407: "REDIRECT",
	16408: "REDIRECTED_FROM",
	16409: "TICKET_LT_OPAQUE",
	16410: "TICKET_REQUEST",
	16411: "TICKET_ACK",
	16412: "TICKET_NACK",
	16413: "TICKET_OPAQUE",
	16414: "LINK_ID",
	16415: "USE_WESP_MODE",
	16416: "ROHC_SUPPORTED",
	16417: "EAP_ONLY_AUTHENTICATION",
	16418: "CHILDLESS_IKEV2_SUPPORTED",
	16419: "QUICK_CRASH_DETECTION",
	16420: "IKEV2_MESSAGE_ID_SYNC_SUPPORTED",
	16421: "IPSEC_REPLAY_COUNTER_SYNC_SUPPORTED",
	16422: "IKEV2_MESSAGE_ID_SYNC",
	16423: "IPSEC_REPLAY_COUNTER_SYNC",
	16424: "SECURE_PASSWORD_METHODS",
	16425: "PSK_PERSIST",
	16426: "PSK_CONFIRM",
	16427: "ERX_SUPPORTED",
	16428: "IFOM_CAPABILITY",
	16429: "GROUP_SENDER",
	16430: "IKEV2_FRAGMENTATION_SUPPORTED",
	16431: "SIGNATURE_HASH_ALGORITHMS",
	16432: "CLONE_IKE_SA_SUPPORTED",
	16433: "CLONE_IKE_SA",
	16434: "PUZZLE",
	16435: "USE_PPK",
	16436: "PPK_IDENTITY",
	16437: "NO_PPK_AUTH",
	16438: "INTERMEDIATE_EXCHANGE_SUPPORTED",
	16439: "IP4_ALLOWED",
	16440: "IP6_ALLOWED",
	16441: "ADDITIONAL_KEY_EXCHANGE",
	16442: "USE_AGGFRAG",
	16443: "SUPPORTED_AUTH_METHODS",
	16444: "SA_RESOURCE_INFO",
	16445: "USE_PPK_INT",
	16446: "PPK_IDENTITY_KEY",
}

// String returns the name that the RFCs use, such as "NO_PROPOSAL_CHOSEN".
func (t NotifyType) String() string {
	if name, ok := notifyNames[t]; ok {
		return name
	}
	if t.IsError() {
		return numbered("ERROR", int(t))
	}
	return numbered("STATUS", int(t))
}
