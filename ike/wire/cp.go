package wire

import (
	"encoding/binary"

	"golang.org/x/crypto/cryptobyte"
)

// CFGType says what a Configuration payload is (RFC 7296 section 3.15).
type CFGType uint8

// Configuration payload types.
const (
	CFGRequest CFGType = 1
	CFGReply   CFGType = 2
	CFGSet     CFGType = 3
	CFGAck     CFGType = 4
)

// Configuration is a CP payload (RFC 7296 section 3.15).
type Configuration struct {
	CFGType    CFGType
	Attributes []ConfigAttribute
}

// ConfigAttribute is a configuration attribute (RFC 7296 section 3.15.1).
// Value is empty in most requests.
type ConfigAttribute struct {
	Type  ConfigType // 15 bits
	Value []byte
}

// ConfigType is a configuration attribute type.
type ConfigType uint16

// Configuration attribute types (RFC 7296 section 3.15.1, RFC 8598).
const (
	ConfigInternalIP4Address  ConfigType = 1
	ConfigInternalIP4Netmask  ConfigType = 2
	ConfigInternalIP4DNS      ConfigType = 3
	ConfigInternalIP4NBNS     ConfigType = 4
	ConfigInternalIP4DHCP     ConfigType = 6
	ConfigApplicationVersion  ConfigType = 7
	ConfigInternalIP6Address  ConfigType = 8
	ConfigInternalIP6DNS      ConfigType = 10
	ConfigInternalIP6DHCP     ConfigType = 12
	ConfigInternalIP4Subnet   ConfigType = 13
	ConfigSupportedAttributes ConfigType = 14
	ConfigInternalIP6Subnet   ConfigType = 15
	ConfigInternalDNSDomain   ConfigType = 25 // RFC 8598
	ConfigInternalDNSSECTA    ConfigType = 26 // RFC 8598
)

// Type returns PayloadConfiguration.
func (p *Configuration) Type() PayloadType { return PayloadConfiguration }

func (p *Configuration) appendBody(dst []byte) ([]byte, error) {
	out := append(dst, byte(p.CFGType), 0, 0, 0)
	for _, a := range p.Attributes {
		if a.Type > maxConfigType || len(a.Value) > 0xffff {
			return dst, ErrTooLong
		}
		out = binary.BigEndian.AppendUint16(out, uint16(a.Type))
		out = binary.BigEndian.AppendUint16(out, uint16(len(a.Value)))
		out = append(out, a.Value...)
	}
	return out, nil
}

// maxConfigType also masks the reserved bit before the 15-bit attribute type.
const maxConfigType = 0x7fff

func parseConfiguration(s cryptobyte.String, limits *Limits) (*Configuration, error) {
	p := new(Configuration)
	if !s.ReadUint8((*uint8)(&p.CFGType)) || !s.Skip(3) {
		return nil, malformed("no room for the CFG type")
	}
	for !s.Empty() {
		if len(p.Attributes) == limits.MaxAttributes {
			return nil, &LimitError{What: "configuration attributes", Limit: limits.MaxAttributes}
		}
		var (
			a     ConfigAttribute
			value cryptobyte.String
		)
		if !s.ReadUint16((*uint16)(&a.Type)) || !s.ReadUint16LengthPrefixed(&value) {
			return nil, malformed("attribute %d is cut off", len(p.Attributes)+1)
		}
		a.Type &= maxConfigType
		a.Value = value
		p.Attributes = append(p.Attributes, a)
	}
	return p, nil
}
