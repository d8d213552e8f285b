package ipsecconf

// MaxAlso is how many sections one may take over, so that a damaged file ends in
// an error.
const MaxAlso = 64
