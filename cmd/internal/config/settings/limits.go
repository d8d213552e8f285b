package settings

// Limits of what is read, so that a damaged file ends in an error and not in
// the memory of the host; package source has those of files.
const (
	MaxDepth     = 32 // sections within sections
	MaxInherited = 64 // sections that one section inherits from
)
