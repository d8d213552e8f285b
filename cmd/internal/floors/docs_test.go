package floors

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testName matches a test, and perhaps one of its subtests, that a document names.
var testName = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)(?:/([\\w.-]+))?`")

// A document that says which test shows something must not outlive the test.
func TestDocsNameTestsThatExist(t *testing.T) {
	const root = "../../.."
	var sources strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		sources.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, doc := range docs {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testName.FindAllStringSubmatch(string(b), -1) {
			if !strings.Contains(sources.String(), "\nfunc "+m[1]+"(") {
				t.Errorf("%s names %s, which does not exist", filepath.Base(doc), m[1])
			}
			if m[2] != "" && !strings.Contains(sources.String(), `"`+m[2]+`"`) {
				t.Errorf("%s names %s/%s; no test calls anything %q", filepath.Base(doc), m[1], m[2], m[2])
			}
		}
	}
}
