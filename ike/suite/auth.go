package suite

// keyPad is what turns a pre-shared key into the key of AUTH (RFC 7296, 2.15).
const keyPad = "Key Pad for IKEv2"

// SignedOctets returns what a party signs or MACs to authenticate (RFC 7296, 2.15): its first message, the other's nonce, and
// prf(SK_p, ID payload without header, with its reserved octets).
func SignedOctets(f PRFunc, skp Key, message, nonce, idBody []byte) []byte {
	return join(message, nonce, f.Sum(skp, idBody))
}

// PSKAuth returns the AUTH value of shared key authentication (RFC 7296, 2.15): prf(prf(psk, "Key Pad for IKEv2"), octets).
func PSKAuth(f PRFunc, psk Key, octets []byte) []byte {
	padded := NewKey(f.Sum(psk, []byte(keyPad)))
	defer padded.Wipe()
	return f.Sum(padded, octets)
}
