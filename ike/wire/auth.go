package wire

import "golang.org/x/crypto/cryptobyte"

// AuthMethod is an authentication method (RFC 7296 section 3.8).
type AuthMethod uint8

// Authentication methods.
const (
	AuthRSASignature     AuthMethod = 1
	AuthSharedKey        AuthMethod = 2
	AuthDSSSignature     AuthMethod = 3
	AuthECDSAP256        AuthMethod = 9  // RFC 4754
	AuthECDSAP384        AuthMethod = 10 // RFC 4754
	AuthECDSAP521        AuthMethod = 11 // RFC 4754
	AuthNull             AuthMethod = 13 // RFC 7619
	AuthDigitalSignature AuthMethod = 14 // RFC 7427
)

// String describes the method in the words of its RFC.
func (m AuthMethod) String() string {
	switch m {
	case AuthRSASignature:
		return "RSA Digital Signature"
	case AuthSharedKey:
		return "Shared Key Message Integrity Code"
	case AuthDSSSignature:
		return "DSS Digital Signature"
	case AuthECDSAP256:
		return "ECDSA with SHA-256 on the P-256 curve"
	case AuthECDSAP384:
		return "ECDSA with SHA-384 on the P-384 curve"
	case AuthECDSAP521:
		return "ECDSA with SHA-512 on the P-521 curve"
	case AuthNull:
		return "NULL Authentication"
	case AuthDigitalSignature:
		return "Digital Signature"
	}
	return numbered("AUTH", int(m))
}

// Auth is an AUTH payload (RFC 7296 section 3.8).
type Auth struct {
	Method AuthMethod
	Data   []byte
}

// Type returns PayloadAuth.
func (p *Auth) Type() PayloadType { return PayloadAuth }

func (p *Auth) appendBody(dst []byte) ([]byte, error) {
	return append(append(dst, byte(p.Method), 0, 0, 0), p.Data...), nil
}

func parseAuth(s cryptobyte.String) (*Auth, error) {
	p := new(Auth)
	if !s.ReadUint8((*uint8)(&p.Method)) || !s.Skip(3) {
		return nil, malformed("no room for the authentication method")
	}
	p.Data = s
	return p, nil
}
