package floors

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ipsecd/ipsecd/"

// floors lists the packages by the longest prefix that matches. Imports between
// our packages go to a lower floor, or stay within one room.
var floors = []struct {
	prefix string
	floor  int
}{
	{"ike/wire", 0},
	{"ike/suite", 0},
	{"ike", 1},
	{"xfrm", 1},
	{"routing", 1},
	{"bgp", 1},
	{"cmd/internal/routerproto", 1},
	{"cmd/internal/charonlog", 1},
	{"cmd/internal/handover", 1},
	{"cmd/internal/config", 2},
	{"cmd/internal/revocation", 2},
	{"cmd/internal/status", 2},
	{"cmd/internal/updown", 2},
	{"cmd/internal/show", 2},
	{"cmd/internal/vici", 2},
	{"cmd/internal/metrics", 2},
	{"cmd/internal/viciclient", 2},
	{"cmd/internal/certtext", 2},
	{"cmd/internal/daemon", 3},
	{"cmd/internal/router", 3},
	{"cmd/ipsecd", 4},
	{"cmd/ipsecctl", 4},
	{"cmd/ipsec", 4},
	{"cmd/swanctl", 4},
}

// rooms are the packages of floor 1 that never import each other.
var rooms = []string{"ike", "xfrm", "routing", "bgp"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", module+"...")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.Bytes())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// place returns a package's entry in floors and the room it belongs to.
func place(path string) (floor int, room string, ok bool) {
	rel := strings.TrimPrefix(path, module)
	best := -1
	for i, f := range floors {
		if (rel == f.prefix || strings.HasPrefix(rel, f.prefix+"/")) && (best < 0 || len(f.prefix) > len(floors[best].prefix)) {
			best = i
		}
	}
	if best < 0 {
		return 0, "", false
	}
	room, _, _ = strings.Cut(rel, "/")
	return floors[best].floor, room, true
}

func TestImportsGoDown(t *testing.T) {
	for _, p := range list(t) {
		if !strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		from, fromRoom, ok := place(p.ImportPath)
		if !ok {
			continue // tests and the lab's scenarios use what they like
		}
		for _, imp := range p.Imports {
			to, toRoom, ok := place(imp)
			if !strings.HasPrefix(imp, module) || !ok {
				continue
			}
			if to > from {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.ImportPath, from, imp, to)
			}
			if fromRoom != toRoom && slices.Contains(rooms, fromRoom) && slices.Contains(rooms, toRoom) {
				t.Errorf("%s imports %s: these rooms know nothing of each other", p.ImportPath, imp)
			}
		}
	}
}

// pureForbidden are the packages that do I/O or reach the operating system.
var pureForbidden = []string{"net", "os", "os/exec", "os/signal", "syscall", "io/fs", "net/http", "golang.org/x/sys/unix", "log"}

func TestEngineIsPure(t *testing.T) {
	for _, p := range list(t) {
		if room, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, module), "/"); room != "ike" {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(pureForbidden, imp) {
				t.Errorf("%s imports %s: the engine does no I/O", p.ImportPath, imp)
			}
		}
	}
}

// The time is an argument of the engine.
func TestEngineReadsNoClock(t *testing.T) {
	fset := token.NewFileSet()
	err := filepath.WalkDir("../../../ike", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker", "AfterFunc", "Tick"}, sel.Sel.Name) {
				t.Errorf("%s: time.%s", fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// GoBGP can panic beyond anybody's reach: it lives in the router process only.
func TestGoBGPStaysInTheRouter(t *testing.T) {
	const gobgp = "github.com/osrg/gobgp"
	allowed := []string{"bgp", "cmd/internal/router", "cmd/ipsecd"}
	for _, p := range list(t) {
		rel := strings.TrimPrefix(p.ImportPath, module)
		if rel == p.ImportPath || slices.Contains(allowed, rel) {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, gobgp) {
				t.Errorf("%s links %s", p.ImportPath, dep)
			}
		}
	}
	for _, p := range list(t) {
		if p.ImportPath != module+"bgp" && strings.HasPrefix(p.ImportPath, module) && slices.ContainsFunc(p.Imports, func(s string) bool { return strings.HasPrefix(s, gobgp) }) {
			t.Errorf("%s imports GoBGP itself; package bgp is its only user", p.ImportPath)
		}
	}
}
