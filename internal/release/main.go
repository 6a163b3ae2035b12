// Release makes the archives of a version: the tools for each platform, with their manual pages,
// completions, profiles and lists of what is in them (SBOM), and the checksums of the archives. One
// commit gives the same bytes with the same version of Go, wherever it is built.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// sbom makes the list of what is in a program: in the form CycloneDX, which tools for companies read.
const sbom = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

var tools = []string{"mergecheck", "servermerge", "fleet", "gameid"}

// beside are the files that go into each archive; a LICENSE does as soon as there is one.
var beside = []string{"LICENSE*", "README.md", "CHANGELOG.md", "config.toml", "docs/*.md", "profiles/*.toml"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := release{out: "dist", log: os.Stderr}
	flag.StringVar(&r.version, "version", "", "such as v0.1.0")
	flag.StringVar(&r.root, "C", ".", "the folder of the module")
	flag.StringVar(&r.out, "o", r.out, "the folder for the archives")
	on := flag.String("on", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "platforms")
	flag.BoolVar(&r.noSBOM, "no-sbom", false, "without lists of what is in the programs, which need the module proxy")
	flag.Parse()
	if err := r.make(ctx, strings.Split(*on, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what one call makes.
type release struct {
	version, root, out string
	noSBOM             bool
	log                io.Writer

	module string // its path
	commit string
	at     time.Time // of the commit; that of all files
	pages  []file    // manual pages and completions
}

// file is one of an archive.
type file struct {
	name string // with slashes, below the archive's own folder
	data []byte
	run  bool // it is a program
}

func (r *release) make(ctx context.Context, platforms []string) error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(r.version) {
		return fmt.Errorf("%q is no version: want one such as v0.1.0", r.version)
	}
	if err := r.readCommit(ctx); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := r.makePages(ctx, work); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var sums []string
	for _, platform := range platforms {
		name, archive, err := r.archive(ctx, work, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		if err := os.WriteFile(filepath.Join(r.out, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(r.log, "%s  %.1f MB\n", name, float64(len(archive))/1e6)
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name))
	}
	slices.Sort(sums)
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// readCommit makes sure that the folder is exactly a commit, and reads what it says of itself.
func (r *release) readCommit(ctx context.Context) error {
	changed, err := r.run(ctx, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("commit these files first, so that the same archives can be built again:\n%s", changed)
	}
	out, err := r.run(ctx, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	var seconds int64
	if _, err := fmt.Sscan(string(out), &r.commit, &seconds); err != nil {
		return err
	}
	r.at = time.Unix(seconds, 0).UTC()
	module, err := r.run(ctx, nil, "go", "list", "-m")
	r.module = strings.TrimSpace(string(module))
	return err
}

// build builds a tool. What it says of itself is given to it: tags, folders and the flags of the
// environment do not count.
func (r *release) build(ctx context.Context, work, platform, tool string) (path string, err error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("%q is no platform: want GOOS/GOARCH", platform)
	}
	path = filepath.Join(work, system+"-"+processor+"-"+tool)
	env := []string{"GOOS=" + system, "GOARCH=" + processor, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1",
		"GOARM64=v8.0", "GOEXPERIMENT="}
	stamp := fmt.Sprintf("-s -w -X '%s/tools/internal/cli.release=%s commit %.12s'",
		r.module, r.version, r.commit)
	_, err = r.run(ctx, env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", path, "./tools/"+tool)
	return path, err
}

// makePages asks the tools for their manual pages and completions.
func (r *release) makePages(ctx context.Context, work string) error {
	for _, tool := range tools {
		path, err := r.build(ctx, work, runtime.GOOS+"/"+runtime.GOARCH, tool)
		if err != nil {
			return err
		}
		for name, args := range map[string][]string{
			"man/man1/" + tool + ".1":            {"-man"},
			"completions/bash/" + tool:           {"-completion", "bash"},
			"completions/zsh/_" + tool:           {"-completion", "zsh"},
			"completions/fish/" + tool + ".fish": {"-completion", "fish"},
		} {
			page, err := r.run(ctx, nil, path, args...)
			if err != nil {
				return err
			}
			r.pages = append(r.pages, file{name: name, data: page})
		}
	}
	return nil
}

// archive builds the tools for a platform and packs them.
func (r *release) archive(ctx context.Context, work, platform string) (name string, archive []byte, err error) {
	files := slices.Clone(r.pages)
	for _, tool := range tools {
		path, err := r.build(ctx, work, platform, tool)
		if err != nil {
			return "", nil, err
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return "", nil, err
		}
		name := tool
		if strings.HasPrefix(platform, "windows/") {
			name += ".exe"
		}
		files = append(files, file{name, program, true})
		if r.noSBOM {
			continue
		}
		parts, err := r.run(ctx, []string{"GOFLAGS="}, "go", "run", sbom, "bin", "-json", "-std", "-noserial", "-notimestamp",
			"-version", r.version, path)
		if err == nil {
			parts, err = ofNoMachine(parts)
		}
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{name: "sbom/" + tool + ".cdx.json", data: parts})
	}
	for _, pattern := range beside {
		found, err := filepath.Glob(filepath.Join(r.root, pattern))
		if err != nil {
			return "", nil, err
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				return "", nil, err
			}
			name, err := filepath.Rel(r.root, path)
			if err != nil {
				return "", nil, err
			}
			files = append(files, file{name: filepath.ToSlash(name), data: data})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	folder := "mergesafe_" + r.version + "_" + strings.ReplaceAll(platform, "/", "_")
	if strings.HasPrefix(platform, "windows/") {
		archive, err = zipped(folder, r.at, files)
		return folder + ".zip", archive, err
	}
	archive, err = tarred(folder, r.at, files)
	return folder + ".tar.gz", archive, err
}

// run runs a program in the folder of the module and returns what it prints.
func (r *release) run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), env...)
	out, err := cmd.Output()
	if failed, ok := err.(*exec.ExitError); ok {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.Stderr)
	}
	return out, err
}
