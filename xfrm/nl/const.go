package nl

// Numbers of linux/xfrm.h. golang.org/x/sys/unix has none of them.

// Message types.
const (
	msgNewSA      = 0x10
	msgDelSA      = 0x11
	msgGetSA      = 0x12
	msgNewPolicy  = 0x13
	msgDelPolicy  = 0x14
	msgGetPolicy  = 0x15
	msgAcquire    = 0x17
	msgExpire     = 0x18
	msgUpdPolicy  = 0x19
	msgUpdSA      = 0x1a
	msgPolExpire  = 0x1b
	msgFlushSA    = 0x1c
	msgFlushPol   = 0x1d
	msgMapping    = 0x26
	msgSetDefault = 0x27
	msgGetDefault = 0x28
)

// Multicast groups.
const (
	groupAcquire = 1
	groupExpire  = 2
	groupSA      = 3
	groupPolicy  = 4
	groupMapping = 8
)

// Attribute types.
const (
	attrAlgAuth       = 1
	attrAlgCrypt      = 2
	attrEncap         = 4
	attrTmpl          = 5
	attrReplayVal     = 10
	attrSrcAddr       = 13
	attrLastUsed      = 15
	attrPolicyType    = 16
	attrAlgAEAD       = 18
	attrAlgAuthTrunc  = 20
	attrMark          = 21
	attrTFCPad        = 22
	attrReplayESN     = 23
	attrExtraFlags    = 24
	attrOffloadDev    = 28
	attrSetMark       = 29
	attrSetMarkMask   = 30
	attrIfID          = 31
	attrMTimerThresh  = 32
	attrSADir         = 33
	attrNATKeepalive  = 34
	attrSAPCPU        = 35
	policyTypeMain    = 0
	encapESPinUDP     = 2 // UDP_ENCAP_ESPINUDP
	offloadIPv6       = 1
	offloadInbound    = 2
	offloadPacket     = 4
	flagESN           = 128
	policyFlagICMP    = 2
	policyFlagPerCPU  = 4 // XFRM_POLICY_CPU_ACQUIRE
	lifetimeInfinity  = ^uint64(0)
	saDirIn           = 1
	saDirOut          = 2
	defaultBlock      = 1
	defaultAccept     = 2
	maxReplayESNWords = 128
)

// Sizes of the fixed structures.
const (
	sizeSelector      = 56
	sizeID            = 24
	sizeUserSAInfo    = 224
	sizeUserSAID      = 24
	sizePolicyInfo    = 168
	sizePolicyID      = 64
	sizeTmpl          = 64
	sizeEncap         = 24
	sizeOffload       = 8
	sizeAcquire       = 280
	sizeExpire        = 232
	sizePolExpire     = 176
	sizeMapping       = 64
	sizeReplay        = 12
	sizeReplayESN     = 24
	sizeAlgo          = 68
	sizeAlgoAuth      = 72
	sizeAlgoName      = 64
	sizeMark          = 8
	sizePolicyType    = 6
	sizePolicyDefault = 3
)
